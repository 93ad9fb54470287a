/**
 * A typical client of a fleet, such as a solver. It submits jobs without pause, and writes its history to a file. After SIGTERM it waits for its jobs
 * and ends. Argument: a {@link ClusterClientSettings} as JSON.
 */
import { openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createFleetRunner } from '../../../src/worker/index.ts';
import { toolList } from '../../fixtures/tool-list.ts';
import { seededRandom } from '../seeded-random.ts';
import { type ClientWord, historyPath } from './cluster-history.ts';
import { clusterJob, type ClusterJob, digestOf, FILE, inputOf, programOf } from './cluster-jobs.ts';
import type { ClusterClientSettings } from './cluster-process.ts';

const { url, life, seed, leaseMs, jobsAtOnce, histories, outputs } = JSON.parse(
  process.argv[2] ?? '',
) as ClusterClientSettings;
const file = openSync(historyPath(histories, life), 'a');
const note = (word: ClientWord): void => void writeSync(file, `${JSON.stringify({ at: Date.now(), ...word })}\n`);
const random = seededRandom(seed);
const tool = (id: 'read' | 'write') =>
  [
    id,
    {
      description: 'Takes a moment.',
      effect: id,
      async execute(input: unknown, { jobId }: { jobId: string }) {
        note({ word: 'called', id: jobId, run: (input as { run: string }).run, tool: id });
        await pause(random.between(0, 200));
        return true;
      },
    },
  ] as const;
const orchestrator = createOrchestrator({
  runners: [createFleetRunner({ url, plain: true, leaseMs, emptyFleet: 'wait' })],
  tools: toolList([tool('read'), tool('write')]),
  attempts: 10,
});
let isEnding = false;
process.once('SIGTERM', () => (isEnding = true));
console.log('ready');

let count = 0;
const submit = async (): Promise<void> => {
  while (!isEnding) {
    count += 1;
    await follow(clusterJob(random, `${life}-${count}`));
  }
};
await Promise.all(Array.from({ length: jobsAtOnce }, submit));
note({ word: 'done' });
await orchestrator.close();

async function follow(job: ClusterJob): Promise<void> {
  const { id } = job;
  const output = join(outputs, id);
  const stream = orchestrator.stream({
    kind: 'exec',
    jobId: id,
    code: programOf(job),
    tools: ['read', 'write'],
    limits: { jobTimeoutMs: 600_000 },
    ...(job.inputMib > 0 ? { files: { [FILE]: inputOf(job) }, output } : {}),
  });
  stream.result.catch(() => undefined);
  let attempt = 1;
  for await (const event of stream) {
    if (event.type === 'accepted') note({ word: 'accepted', job });
    if (event.type === 'started') note({ word: 'started', id, attempt, about: event.worker ?? '' });
    if (event.type === 'restarted') {
      ({ attempt } = event);
      note({ word: 'restarted', id, attempt, about: event.reason });
    }
  }
  try {
    const { outcome, stdout, artifacts, error, worker } = await stream.result;
    const artifact = artifacts.length > 0 ? digestOf(readFileSync(join(output, FILE))) : null;
    const about = `${worker} ${error?.message ?? ''}`;
    note({ word: 'ended', id, outcome, stdout: digestOf(stdout.text), artifact, about });
  } catch (error) {
    const { code = 'unknown', message } = error as { code?: string; message: string };
    note({ word: 'failed', id, code, about: message });
  }
  rmSync(output, { recursive: true, force: true });
}
