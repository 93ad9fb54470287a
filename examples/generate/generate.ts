/** Writes a letter with a skill and checks it with a schema: `node examples/generate/generate.ts [--model PROVIDER/MODEL]`. */
import { parseArgs } from 'node:util';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { readModelSettings } from '../../src/models/gateways/model-environment.ts';
import { replayGateway } from '../../src/models/recordings/replay-gateway.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { officeSkills } from '../decision/questions.ts';
import { reminder, reminderRecording } from './reminder.ts';

const { values } = parseArgs({ options: { model: { type: 'string' } } });
const settings = values.model === undefined ? undefined : readModelSettings(values.model);
const model = settings === undefined ? replayGateway(reminderRecording) : createModelGateway(settings);
const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: officeSkills }] });

await using orchestrator = createOrchestrator({ skills, model });
const { value, attempts, skills: used } = await orchestrator.generate(reminder);
console.log(`Skills: ${used.active.join(', ')}; answers: ${attempts}`);
console.log(`Subject: ${value?.subject}\n\n${value?.body}`);
