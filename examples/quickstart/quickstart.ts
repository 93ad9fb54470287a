/** The main job from start to end, each step said: `npm start`, or `npm start -- --model PROVIDER/MODEL`. */
import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createModelGateway } from '../../src/broker/create-model-gateway.ts';
import { readModelSettings } from '../../src/broker/model-environment.ts';
import type { ModelGateway } from '../../src/broker/model-gateway.ts';
import { replayGateway } from '../../src/broker/replay-gateway.ts';
import type { JobEvent } from '../../src/contracts/events.ts';
import { DEFAULT_CONSUMER } from '../../src/contracts/job.ts';
import type { JobResult } from '../../src/contracts/result.ts';
import { SkillcellError } from '../../src/contracts/skillcell-error.ts';
import { createOrchestrator } from '../../src/orchestrator/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { quickstartJob, quickstartRecording } from './quickstart-job.ts';

const output = fileURLToPath(new URL('./output', import.meta.url));
const builtinRoot = fileURLToPath(new URL('../../skills', import.meta.url));

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function chooseModel(name: string | undefined): ModelGateway {
  const settings = readModelSettings(name);
  if (settings !== undefined) {
    const gateway = createModelGateway(settings);
    say(`Model        ${gateway.id}`);
    return gateway;
  }
  say('Model        none is configured, so the recorded answer in examples/quickstart/recording.json is replayed');
  return replayGateway(quickstartRecording);
}

function sayEvent(event: JobEvent): void {
  switch (event.type) {
    case 'started':
      return say(`Sandbox      ${event.runner} runner, isolation level ${event.isolation}`);
    case 'skills':
      return say(`Active       ${event.skills.active.join(', ')}: every byte checked inside the sandbox`);
    case 'attempt':
      return say(`Attempt ${event.attempt}/${event.maxAttempts}  ${event.phase === 'asking' ? 'asking the model' : 'running its program'}`);
    case 'output':
      return void (event.stream === 'stderr' ? process.stderr : process.stdout).write(event.bytes);
    case 'accepted':
    case 'run':
    case 'call':
    case 'artifact':
    case 'finished':
    case 'faulted':
      return undefined;
  }
}

async function sayResult(result: JobResult): Promise<void> {
  say(`Outcome      ${result.outcome} after ${((result.usage.wallMs ?? 0) / 1000).toFixed(2)} s`);
  if (result.error !== undefined) say(`Error        ${result.error.name}: ${result.error.message}`);
  for (const { path } of result.artifacts) {
    const file = `${output}/${path}`;
    say(`Artifact     ${relative(process.env['INIT_CWD'] ?? process.cwd(), file)} (${(await stat(file)).size} bytes)`);
  }
  if (result.value !== undefined) say(`Value        ${JSON.stringify(result.value)}`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { model: { type: 'string' } } });
  const skills = loadSkillsSubsystem({ builtinRoot });
  say(`Catalog      ${skills.catalog({ consumer: DEFAULT_CONSUMER }).ids.join(', ')}`);
  const model = chooseModel(values.model);
  // A machine without bubblewrap shows the job all the same; the line `Sandbox` says what it got.
  await using orchestrator = createOrchestrator({ skills, model, allowUnisolated: true });
  const job = orchestrator.stream({ kind: 'codegen', ...quickstartJob(), output });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => orchestrator.cancel(job.jobId));
  for await (const event of job) sayEvent(event);
  const result = await job.result;
  await sayResult(result);
  if (result.outcome === 'canceled') return 130;
  return result.outcome === 'succeeded' ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!SkillcellError.isInstance(error)) throw error;
  process.stderr.write(`${error.message}\n${error.hint}\n`);
  process.exitCode = error.entry.exitCode;
}
