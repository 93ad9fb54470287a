/** Rewrites the quick start's recordings: with the current prompts, and the answer files beside this file. */
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { plainJob, plainRecording, quickstartJob, quickstartRecording } from './quickstart-job.ts';

const skills = loadSkillsSubsystem({ builtinRoot: fileURLToPath(new URL('../../skills', import.meta.url)) });

/** A model with one fixed answer. */
function author(file: string): ModelGateway {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  const usage = { inputTokens: null, outputTokens: null };
  const model = 'recorded/answer';
  return { id: model, generate: () => Promise.resolve({ text, usage, model, finishReason: 'stop' }) };
}

for (const { job, answer, recording } of [
  { job: quickstartJob(), answer: './answer.md', recording: quickstartRecording },
  { job: plainJob(), answer: './answer-plain.md', recording: plainRecording },
]) {
  rmSync(recording, { force: true });
  const model = recordingGateway(author(answer), recording);
  await using orchestrator = createOrchestrator({ skills, model, allowUnisolated: true });
  const result = await orchestrator.codegen(job);
  const artifacts = result.artifacts.map(({ path, bytes }) => `${path} (${bytes} bytes)`);
  process.stderr.write(`${answer}: ${result.outcome}: ${artifacts.join(', ')}\n`);
  if (result.outcome === 'succeeded') continue;
  process.stderr.write(`${JSON.stringify(result, null, 2)}\n`);
  process.exitCode = 1;
}
