/** A script of a skill, run by the host and by a program: `node examples/script/script.ts`. */
import { fileURLToPath } from 'node:url';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: path('skills') }] });
const table = { source: path('../decision/invoices.csv') };

await using orchestrator = createOrchestrator({ skills, allowUnisolated: true });
const result = await orchestrator.script({
  skill: 'custom.invoices',
  script: 'scripts/sum.py',
  args: ['invoices.csv'],
  files: { 'invoices.csv': table },
  expect: ['sums.csv'],
});
console.log(`${result.outcome}: ${JSON.stringify(result.value)}`);
console.log(result.stdout.text.trim());
console.log(`sums.csv:\n${(await orchestrator.readArtifact(result, 'sums.csv', 'utf8')).trim()}`);

// The code of a job may run scripts of the job's skills if its tools include `skills.run_script`.
const asked = await orchestrator.exec({
  skills: { refs: ['custom.invoices'] },
  tools: ['skills.run_script'],
  code: `import { tools } from 'skillcell';
const { outcome, stderr } = await tools.call('skills.run_script', { skill: 'custom.invoices', script: 'scripts/sum.py', args: ['none.csv'] });
console.log(outcome + ':', stderr.text.trim().split('\\n').at(-1).replace(/'.*\\//, "'"));`,
});
console.log(asked.stdout.text.trim());
