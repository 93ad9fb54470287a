/**
 * A typical user of a service with several replicas. It submits jobs without pause, follows them through cut streams, cancels some, and writes its
 * history to a file. After SIGTERM it waits for its jobs and ends. Argument: a {@link ReplicaUserSettings} as JSON.
 */
import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../seeded-random.ts';
import { digestOf } from '../cluster-jobs.ts';
import { readEvents, type ReplicaAnswer, replicaCaller } from './replica-calls.ts';
import { type SeenEvent, userHistoryPath, type UserWord } from './replica-history.ts';
import { FILE, replicaJob, type ReplicaJob, requestOf } from './replica-jobs.ts';
import type { ReplicaUserSettings } from './service-seats.ts';

const { addresses, token, life, seed, jobsAtOnce, histories } = JSON.parse(
  process.argv[2] ?? '',
) as ReplicaUserSettings;
const file = openSync(userHistoryPath(histories, life), 'a');
const note = (word: UserWord): void => void writeSync(file, `${JSON.stringify({ at: Date.now(), ...word })}\n`);
const random = seededRandom(seed);
const blame = (about: string): void => note({ word: 'fault', about });
let turn = 0;
const next = (): string => addresses[(turn += 1) % addresses.length] ?? '';
const service = replicaCaller({ token, next, blame });
/** A stream has a comment each 15 seconds. */
const SILENT_MS = 40_000;
const MOST_PIECE = 60_000;
/** A program that is to be canceled runs for a minute. Its replica may be cut off for 2.5 leases. */
const IN_TIME_MS = 6_000;

let isEnding = false;
process.once('SIGTERM', () => (isEnding = true));
console.log('ready');
let count = 0;
const order = async (): Promise<void> => {
  while (!isEnding) {
    count += 1;
    await take(replicaJob(random, `${life}-${count}`));
  }
};
await Promise.all(Array.from({ length: jobsAtOnce }, order));
note({ word: 'done' });
process.exit(0);

async function take(job: ReplicaJob): Promise<void> {
  const { name } = job;
  note({ word: 'ordered', job });
  const orderedAt = performance.now();
  const id = await submit(job);
  if (id === undefined) return;
  // The same request again gets the same job.
  if (random.between(0, 4) === 0) await submit(job);
  if (job.isCanceled) void cancel(job, id, orderedAt).catch((error: unknown) => blame(String(error)));
  note({ word: 'followed', name, events: await follow(id) });
  const { status, json, text } = await service.call(`/jobs/${id}/result`);
  if (status !== 200) return blame(`the result of ${name}, whose last event was read, is answered with ${status}`);
  const outcome = String(json.outcome);
  const isWhole = outcome === 'succeeded';
  const stdout = isWhole ? digestOfAnswer(await service.call(`/jobs/${id}/output/stdout`)) : null;
  const hasArtifact = isWhole && job.inputKib > 0;
  const artifact = hasArtifact ? digestOfAnswer(await service.call(`/jobs/${id}/artifacts/${FILE}`)) : null;
  note({ word: 'ended', name, outcome, result: digestOf(text), stdout, artifact });
}

function digestOfAnswer({ status, text }: ReplicaAnswer): string {
  return status === 200 ? digestOf(text) : `status ${status}`;
}

async function submit(job: ReplicaJob): Promise<string | undefined> {
  const { name } = job;
  const headers = { 'idempotency-key': name, ...(random.between(0, 3) === 0 ? { prefer: 'wait=2' } : {}) };
  const { status, text, json } = await service.call('/jobs', { body: requestOf(job), headers });
  const id = (json?.id ?? json?.jobId) as string | undefined;
  if ((status === 202 || status === 200) && id !== undefined) {
    note({ word: 'accepted', name, id });
    return id;
  }
  blame(`${name} is refused with ${status}: ${text}`);
  return undefined;
}

async function cancel({ name }: ReplicaJob, id: string, orderedAt: number): Promise<void> {
  await pause(random.between(0, 3_000));
  const { status, text } = await service.call(`/jobs/${id}/cancel`, { body: { reason: 'enough' } });
  // It may have ended: lost with its host, or by a request before that had no answer.
  const isInTime = status === 202 && performance.now() - orderedAt < IN_TIME_MS;
  note({ word: 'canceled', name, isInTime });
  if (status !== 202 && status !== 409) blame(`the cancellation of ${id} is answered with ${status}: ${text}`);
}

/** The events of a job up to the last one. */
async function follow(id: string): Promise<SeenEvent[]> {
  const events: SeenEvent[] = [];
  let most = MOST_PIECE;
  for (;;) {
    const { length } = events;
    const cut = new AbortController();
    const answer = await service.stream(id, events.at(-1)?.id, cut.signal);
    const bytes = random.between(1, most);
    if (answer !== undefined && (await readEvents(answer, events, { bytes, silentMs: SILENT_MS, cut }))) return events;
    // An event may be longer than a piece.
    most = events.length > length ? MOST_PIECE : Math.min(most * 2, 100_000_000);
    await pause(100);
  }
}
