/** Rewrites the recording of this example: with the current prompts, and the answers below. */
import { rmSync } from 'node:fs';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { officeSkills } from '../decision/questions.ts';
import { reminder, reminderRecording } from './reminder.ts';

const BODY = `Dear Ada Meyer,

our invoice of 1,480.00, due on 1 October 2026, may have escaped your notice. If the payment is on its way, please take this letter as read.

Kind regards`;

/** The first answer lacks its subject, so the schema's fault goes back to the model. */
const ANSWERS = [{ body: BODY }, { subject: 'Our invoice of 1,480.00', body: BODY }].map(
  (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`,
);

let asked = 0;
const author: ModelGateway = {
  id: 'recorded/answer',
  generate: async () => ({
    text: ANSWERS[asked++] ?? '',
    model: 'recorded/answer',
    usage: { inputTokens: null, outputTokens: null },
    finishReason: 'stop',
  }),
};

rmSync(reminderRecording, { force: true });
const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: officeSkills }] });
const model = recordingGateway(author, reminderRecording);
await using orchestrator = createOrchestrator({ skills, model });
await orchestrator.generate(reminder);
