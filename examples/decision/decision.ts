/** A model chooses skills for two questions, and whether each needs a program: `node examples/decision/decision.ts [--model PROVIDER/MODEL]`. */
import { parseArgs } from 'node:util';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { readModelSettings } from '../../src/models/gateways/model-environment.ts';
import { replayGateway } from '../../src/models/recordings/replay-gateway.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { officeSkills, questions } from './questions.ts';

const { values } = parseArgs({ options: { model: { type: 'string' } } });
const settings = values.model === undefined ? undefined : readModelSettings(values.model);
const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: officeSkills }] });

for (const { job, recording } of questions) {
  const model = settings === undefined ? replayGateway(recording) : createModelGateway(settings);
  await using orchestrator = createOrchestrator({ skills, model, allowUnisolated: true });
  const result = await orchestrator.codegen(job);
  const { decision, outcome, error } = result;
  console.log(`Question: ${job.task}`);
  for (const { chosen } of decision?.rounds ?? [])
    for (const { ref, id, status } of chosen) console.log(`  skill ${ref}: ${id ?? 'unknown'}, ${status}`);
  console.log(`  decided: ${decision?.action ?? 'nothing'}`);
  if (decision?.handover !== undefined) console.log(`  handed over: ${decision.handover.task}`);
  console.log(`  ${outcome}${error === undefined ? '' : `: ${error.message}`}`);
  console.log(result.stdout.text.trim().replace(/^/gm, '  | '));
  for (const { path } of result.artifacts) {
    console.log(`  ${path}:`);
    console.log((await orchestrator.readArtifact(result, path, 'utf8')).trim().replace(/^/gm, '  | '));
  }
  if (outcome !== 'succeeded') process.exitCode = 1;
}
