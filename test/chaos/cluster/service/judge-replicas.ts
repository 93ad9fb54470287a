import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Seat } from '../cluster.ts';
import { digestOf } from '../cluster-jobs.ts';
import { type JournalCall, readJournal, readUserHistories, type SeenEvent, type UserWord } from './replica-history.ts';
import { digestsOf, type ReplicaJob } from './replica-jobs.ts';
import type { Observation } from './replica-observer.ts';
import type { ClusterService } from './service-seats.ts';

/** How the jobs of a service ended, by their rows. */
export interface ServiceTally {
  ordered: number;
  accepted: number;
  succeeded: number;
  canceled: number;
  /** Jobs that were not started again after their replica was lost. */
  lost: number;
  /** Attempts beyond the first, of jobs that no user canceled. */
  restarts: number;
  calls: number;
  objects: number;
}

/** A row, as it is stored. */
interface StoredRow {
  id: string;
  state: string;
  outcome: string | null;
  error_code: string | null;
  label: string;
  attempt: number;
  idempotency_key: string;
  result: string | null;
}

const ROWS = 'select id, state, outcome, error_code, label, attempt, idempotency_key, result from jobs';
/** Most attempts of a job. */
const MOST_ATTEMPTS = 3;

/** Compares histories, rows, objects, calls, and the answers of each replica, when every job should have ended. */
export async function judgeReplicas(service: ClusterService): Promise<{ faults: string[]; tally: ServiceTally }> {
  const rows = await service.query<StoredRow>(ROWS);
  const finished = rows.filter(({ state }) => state === 'finished');
  const seen = await service.observe(finished.map(({ id }) => id));
  const calls = readJournal(service.journal);
  const faults = [...seen.faults, ...service.replicas.flatMap((seat) => judgeLog(service, seat))];
  const jobs = new Map<string, ReplicaJob>();
  const words: UserWord[] = [];
  for (const [life, own] of readUserHistories(service.histories)) {
    if (own.at(-1)?.word !== 'done') faults.push(`user ${life} has not come to an end`);
    words.push(...own);
  }
  for (const word of words) {
    if (word.word === 'ordered') jobs.set(word.job.name, word.job);
    if (word.word === 'fault') faults.push(word.about);
  }
  for (const { id, idempotency_key: key, label } of rows) {
    if (key !== label || !jobs.has(label)) faults.push(`row ${id} has no order: ${key}, ${label}`);
    if (rows.filter((row) => row.label === label).length > 1) faults.push(`job ${label} has several rows`);
  }
  for (const job of jobs.values()) {
    const row = rows.find(({ label }) => label === job.name);
    const own = words.filter((word) => 'name' in word && word.name === job.name);
    const about = { job, row, words: own, calls: calls.filter(({ name }) => name === job.name), seen };
    faults.push(...judgeJob(about).map((fault) => `job ${job.name} ${fault}`));
  }
  faults.push(...judgeObjects(seen.keys, rows));
  const tally: ServiceTally = {
    ordered: jobs.size,
    accepted: new Set(words.flatMap((word) => (word.word === 'accepted' ? [word.id] : []))).size,
    succeeded: rows.filter(({ outcome }) => outcome === 'succeeded').length,
    canceled: rows.filter(({ outcome }) => outcome === 'canceled').length,
    lost: rows.filter(({ error_code: code }) => code !== null).length,
    restarts: rows.reduce((sum, { label, attempt }) => sum + (jobs.get(label)?.isCanceled ? 0 : attempt - 1), 0),
    calls: calls.length,
    objects: seen.keys.length,
  };
  return { faults, tally };
}

/** A replica reports no failure of its own. */
function judgeLog({ logOf }: ClusterService, seat: Seat): string[] {
  const failures = readFileSync(logOf(seat), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"level":50'));
  return failures.map((line) => `${seat.name} has failed: ${line}`);
}

interface JobEvidence {
  job: ReplicaJob;
  row: StoredRow | undefined;
  words: readonly UserWord[];
  calls: readonly JournalCall[];
  seen: Observation;
}

function judgeJob({ job, row, words, calls, seen }: JobEvidence): string[] {
  const faults: string[] = [];
  const ids = new Set(words.flatMap((word) => (word.word === 'accepted' ? [word.id] : [])));
  if (ids.size > 1) faults.push(`was answered with ${ids.size} ids`);
  const [id] = ids;
  if (row === undefined) return id === undefined ? faults : [...faults, 'was accepted and has no row'];
  if (id !== undefined && id !== row.id) faults.push(`was accepted as ${id}, and its row is ${row.id}`);
  if (row.state !== 'finished' || row.result === null) return [...faults, `has not ended: it is ${row.state}`];
  const { outcome, error_code: errorCode, attempt } = row;
  const writes = calls.filter(({ tool }) => tool === 'write').length;
  const wishes = words.flatMap((word) => (word.word === 'canceled' ? [word.isInTime] : []));
  if (!isExpected(row, { wishes, writes }))
    faults.push(`is ${outcome} ${errorCode} in attempt ${attempt}: ${row.result}`);
  if (attempt > MOST_ATTEMPTS) faults.push(`ran ${attempt} times`);
  const result = JSON.parse(row.result) as { jobId: string; outcome: string };
  if (result.jobId !== row.id || result.outcome !== outcome) faults.push('has a result that is not of its row');

  const isWhole = outcome === 'succeeded';
  const { stdout, artifact } = digestsOf(job);
  const views = Object.entries(seen.views).map(([address, view]) => ({ address, view: view[row.id] }));
  const [first] = views;
  for (const { address, view } of views) {
    if (view?.result !== row.result) faults.push(`has another result at ${address} than in its row`);
    if (!isDeepStrictEqual(view?.events, first?.view?.events)) faults.push(`has other events at ${address}`);
    if (isWhole && view?.stdout !== stdout) faults.push(`has other output at ${address}: ${view?.stdout}`);
    if (isWhole && artifact !== null && view?.artifact !== artifact)
      faults.push(`has another artifact at ${address}: ${view?.artifact}`);
  }
  const whole = first?.view?.events ?? [];
  const last = digestOf(JSON.stringify({ type: 'finished', jobId: row.id, result }));
  if (whole.at(-1)?.digest !== last) faults.push('has a last event that is not its end');
  faults.push(...judgeOrder(whole).map((fault) => `${fault}, in its stored events`));
  for (const word of words) {
    if (word.word === 'followed') faults.push(...judgeFollowed(word.events, whole));
    if (word.word !== 'ended') continue;
    if (word.outcome !== outcome || word.result !== digestOf(row.result)) faults.push('was answered with another end');
    if (isWhole && word.stdout !== stdout) faults.push(`was answered with other output: ${word.stdout}`);
    if (isWhole && word.artifact !== artifact) faults.push(`was answered with another artifact: ${word.artifact}`);
  }
  if (id !== undefined && !words.some(({ word }) => word === 'ended')) faults.push('had no end for its user');
  return [...faults, ...judgeCalls(job, calls, isWhole)];
}

/** A job ends as it should, as it was canceled, or as lost with the replica of its last attempt, or of one that may have changed something. */
function isExpected(
  { outcome, error_code: errorCode, attempt }: StoredRow,
  { wishes, writes }: { wishes: readonly boolean[]; writes: number },
): boolean {
  if (errorCode === null && wishes.includes(true)) return outcome === 'canceled';
  if (errorCode === null && outcome === 'canceled') return wishes.length > 0;
  if (errorCode === null) return outcome === 'succeeded';
  const isLost = errorCode === 'job.host-lost' || errorCode === 'sandbox.lost';
  return isLost && outcome === 'failed' && (writes > 0 || attempt === MOST_ATTEMPTS);
}

/** Each id is the place after its event: an event begins where the one before has ended. */
function judgeOrder(events: readonly SeenEvent[]): string[] {
  const faults: string[] = [];
  let [attempt, offset] = [0, 0];
  for (const { id, bytes } of events) {
    const [ofAttempt = 0, end = 0] = id.split('.').map(Number);
    if (ofAttempt < attempt) faults.push(`has the event ${id} after one of attempt ${attempt}`);
    if (ofAttempt !== attempt) [attempt, offset] = [ofAttempt, 0];
    const start = end - bytes - 1;
    if (start > offset) faults.push(`lacks events between ${attempt}.${offset} and ${id}`);
    if (start < offset) faults.push(`has the event ${id} twice`);
    offset = end;
  }
  return faults;
}

/** What a user has joined from several streams has no gap and no repetition, and its last attempt is the stored one. */
function judgeFollowed(events: readonly SeenEvent[], whole: readonly SeenEvent[]): string[] {
  const attemptOf = (event: SeenEvent | undefined): string | undefined => event?.id.split('.')[0];
  const last = attemptOf(whole.at(-1));
  const ofLast = (all: readonly SeenEvent[]): SeenEvent[] => all.filter((event) => attemptOf(event) === last);
  const isEqual = isDeepStrictEqual(ofLast(events), ofLast(whole));
  return [...judgeOrder(events), ...(isEqual ? [] : ['was followed with other events than are stored'])];
}

/** After a call of a later run, no earlier one calls. */
function judgeCalls({ reads, writes }: ReplicaJob, calls: readonly JournalCall[], isWhole: boolean): string[] {
  const faults: string[] = [];
  const runs: string[] = [];
  for (const { run } of calls) {
    if (run === runs.at(-1)) continue;
    if (runs.includes(run)) faults.push('had a call of an older run after one of a later run');
    runs.push(run);
  }
  const written = calls.filter(({ tool }) => tool === 'write');
  if (written.length > 1) faults.push(`has run its write tool ${written.length} times`);
  if (written.length > 0 && written[0]?.run !== runs.at(-1)) faults.push('was started again after its write');
  const read = calls.filter(({ tool, run }) => tool === 'read' && run === runs.at(-1)).length;
  if (isWhole && (read !== reads || written.length !== Number(writes)))
    faults.push(`has succeeded with ${read} reads and ${written.length} writes`);
  return faults;
}

/** Objects of a job have a row. Inputs may be there before it, or for a submission that was refused. */
function judgeObjects(keys: readonly string[], rows: readonly StoredRow[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => {
    const [, id = '', part = ''] = /^jobs\/([0-9a-f-]{36})\/(in|\d+)(?:-[^/]+)?\//.exec(key) ?? [];
    if (part === '') return [`the bucket has a strange object: ${key}`];
    const row = byId.get(id);
    if (row === undefined) return part === 'in' ? [] : [`the bucket has an object without a row: ${key}`];
    return part !== 'in' && Number(part) > row.attempt ? [`the bucket has an object of no attempt: ${key}`] : [];
  });
}
