/** Writes the quick start's recording anew: the prompt as it is now, and the answer of examples/quickstart/answer.md. */
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ModelGateway } from '../../src/broker/model-gateway.ts';
import { recordingGateway } from '../../src/broker/recording-gateway.ts';
import { createOrchestrator } from '../../src/orchestrator/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { quickstartJob, quickstartRecording } from './quickstart-job.ts';

const answer = readFileSync(new URL('./answer.md', import.meta.url), 'utf8');
const author: ModelGateway = {
  id: 'recorded/answer',
  generate: () =>
    Promise.resolve({
      text: answer,
      usage: { inputTokens: null, outputTokens: null },
      model: 'recorded/answer',
      finishReason: 'stop',
    }),
};

rmSync(quickstartRecording, { force: true });
const skills = loadSkillsSubsystem({ builtinRoot: fileURLToPath(new URL('../../skills', import.meta.url)) });
await using orchestrator = createOrchestrator({
  skills,
  model: recordingGateway(author, quickstartRecording),
  allowUnisolated: true,
});
const result = await orchestrator.codegen(quickstartJob());
process.stderr.write(`${result.outcome}: ${result.artifacts.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(', ')}\n`);
if (result.outcome !== 'succeeded') {
  process.stderr.write(JSON.stringify(result, null, 2));
  process.exitCode = 1;
}
