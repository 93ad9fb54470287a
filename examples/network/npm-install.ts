/** A session in which `npm install` works, for the packages that its host allows: `node examples/network/npm-install.ts`. */
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startNpmRegistry } from './npm-registry.ts';

// In place of the registry of your own npm configuration, which sessions use otherwise.
await using registry = await startNpmRegistry();

await using orchestrator = createOrchestrator({
  network: { allow: [], packages: { npm: ['postage', 'postal-*'] }, ...registry.options },
});
// On the command line: skillcell repl --allow-host registry:npm
await using session = await orchestrator.session({ network: ['registry:npm'] });

const before = await session.run("require('postage')");
console.log(`run ${before.run}: ${before.error?.message.split('\n')[0]}`);

const install = await session.run('npm install --no-audit --no-fund postage && ls node_modules', { language: 'bash' });
console.log(`run ${install.run}: ${install.stdout.text.trim().replaceAll(/\s+/g, ' ')}; requests: ${install.network?.requests}`);

const used = await session.run("const { cents } = require('postage');\ncents('DE')");
console.log(`run ${used.run}: ${String(used.value)} cents`);

const other = await session.run('npm install --no-audit --no-fund crypto-miner', { language: 'bash' });
console.log(`run ${other.run}: exit code ${other.exitCode}`);
console.log(other.stderr.text.match(/Denied by policy: [^ ]* [^ ]*/)?.[0]);
