/**
 * Looks at the bucket and at each replica of a service, from a host of its own, and prints all as JSON. Argument: a file with
 * {@link ObserverSettings}.
 */
import { readFileSync } from 'node:fs';
import { openRawBucket } from '../../../fixtures/raw-bucket.ts';
import { digestOf } from '../cluster-jobs.ts';
import { readEvents, replicaCaller } from './replica-calls.ts';
import type { SeenEvent } from './replica-history.ts';
import { FILE } from './replica-jobs.ts';
import type { ObserverSettings } from './service-seats.ts';

/** A job as one replica shows it. */
export interface JobView {
  /** Text of its result. */
  result: string;
  events: SeenEvent[];
  stdout: string;
  artifact: string;
}

/** All that an observer sees. */
export interface Observation {
  keys: string[];
  /** By replica, then by job. */
  views: Record<string, Record<string, JobView>>;
  faults: string[];
}

const SILENT_MS = 40_000;
const { endpoint, credentials, bucket, isNew, addresses, token, jobs, put } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as ObserverSettings;
const seen: Observation = { keys: [], views: {}, faults: [] };
const raw = openRawBucket(endpoint, credentials, bucket);
if (isNew) await raw.create();
if (put !== undefined) await raw.put(put, 'planted');
seen.keys = await raw.keys('');
raw.close();
for (const address of addresses) {
  const blame = (fault: string): void => void seen.faults.push(`${address}: ${fault}`);
  const replica = replicaCaller({ token, next: () => address, blame });
  const views: Record<string, JobView> = (seen.views[address] = {});
  for (const id of jobs) {
    const events: SeenEvent[] = [];
    const cut = new AbortController();
    const stream = await replica.stream(id, undefined, cut.signal);
    if (stream !== undefined)
      await readEvents(stream, events, { bytes: Number.POSITIVE_INFINITY, silentMs: SILENT_MS, cut });
    const [result, stdout, artifact] = await Promise.all(
      ['result', 'output/stdout', `artifacts/${FILE}`].map(async (path) => await replica.call(`/jobs/${id}/${path}`)),
    );
    const digest = (answer: typeof stdout): string =>
      answer?.status === 200 ? digestOf(answer.text) : `status ${answer?.status}`;
    views[id] = { events, result: result?.text ?? '', stdout: digest(stdout), artifact: digest(artifact) };
  }
}
process.stdout.write(JSON.stringify(seen));
