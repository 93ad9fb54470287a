/** Tools that two foreign skills bring as code, each in its own sandbox: `node examples/skill-code/skill-code.ts`. */
import { fileURLToPath } from 'node:url';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: path('skills') }] });

await using orchestrator = createOrchestrator({ skills, allowUnisolated: true });
const result = await orchestrator.exec({
  skills: { refs: ['custom.greetings', 'custom.distances'] },
  tools: ['greet', 'snoop', 'to_kilometres'],
  files: { 'invoices.csv': { source: path('../decision/invoices.csv') } },
  code: `import { tools } from 'skillcell';
const greeting = await tools.greet({ name: 'Ada', language: 'fr' });
console.log('greet:', greeting.output);
console.log('to_kilometres:', await tools.to_kilometres({ miles: 26.2 }));
await tools.to_kilometres({ miles: 'far' }).catch(({ code }) => console.log('to_kilometres:', code));
console.log('snoop:', (await tools.snoop({})).output);`,
});
console.log(result.stdout.text.trim());
for (const { name, ok } of result.calls) console.log(`called ${name}, ${ok ? 'well' : 'refused'}`);
