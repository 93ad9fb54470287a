/** A job with a package of npm, whose program then runs without a network: `node examples/network/packages.ts`. */
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startNpmRegistry } from './npm-registry.ts';

// In place of the registry of your own npm configuration, which jobs use otherwise.
await using registry = await startNpmRegistry();

await using orchestrator = createOrchestrator({
  // The program may reach no place. The names hold for dependencies as well.
  network: { allow: [], packages: { npm: ['postage', 'postal-*'] }, ...registry.options },
});

const code = `import { cents } from 'postage';
console.log('a letter to France:', cents('FR'), 'cents');
const answer = await fetch('https://${registry.place}/postage').catch((error) => error.cause.code);
console.log('the registry from the program:', answer);`;
const result = await orchestrator.exec({ code, packages: { npm: ['postage@^1.2.0'] } });
console.log(result.stdout.text.trim());
for (const { registry: from, name, version, digest } of result.packages ?? []) console.log(from, name, version, digest?.slice(0, 15));

const refused = await orchestrator.exec({ code, packages: { npm: ['crypto-miner'] } });
console.log(refused.outcome, refused.error?.name, refused.network?.denied.map(({ path, reason }) => `${path} ${reason}`));
