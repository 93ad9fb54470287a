import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { HostWord } from './host-words.ts';
import type { MixedJob } from './mixed-jobs.ts';

/** The history of a job, by the words of its host. */
export interface JobHistory {
  mixed: MixedJob;
  accepted: boolean;
  said?: Extract<HostWord, { word: 'finished' | 'failed' }>;
}

/** The referee's own journal: its orders and the words of the hosts, kept apart from their state. */
export interface History {
  readonly jobs: ReadonlyMap<string, JobHistory>;
  /** Called before the host gets the order. */
  ordered(mixed: MixedJob): void;
  heard(words: readonly HostWord[]): void;
  note(line: object): void;
}

/** Creates a history, with a copy in a file for the inspection of a violation. */
export function createHistory(path: string): History {
  const jobs = new Map<string, JobHistory>();
  const note = (line: object): void => appendFileSync(path, `${JSON.stringify(line)}\n`);
  return {
    jobs,
    note,
    ordered(mixed) {
      note({ ordered: mixed.job.jobId });
      jobs.set(mixed.job.jobId, { mixed, accepted: false });
    },
    heard(words) {
      for (const word of words) {
        const job = 'jobId' in word ? jobs.get(word.jobId) : undefined;
        if (job === undefined) continue;
        if (word.word === 'accepted') job.accepted = true;
        else if (word.word === 'finished' || word.word === 'failed') job.said = word;
        note(word);
      }
    },
  };
}

/** How the jobs ended, by the files in the state folder. */
export interface Tally {
  ordered: number;
  accepted: number;
  finished: number;
  failed: number;
  canceled: number;
  /** The failed jobs whose host was killed. */
  hostLost: number;
}

/** Compares the words of the hosts with the results. Returns the faults. */
export function checkResults(stateDir: string, ids: Iterable<string>, history: History): string[] {
  const faults: string[] = [];
  const byJob = new Map<string, string[]>();
  for (const name of readdirSync(join(stateDir, 'results'))) {
    const [id = ''] = name.split('.');
    byJob.set(id, [...(byJob.get(id) ?? []), name]);
  }
  for (const id of ids) {
    const job = history.jobs.get(id);
    const found = byJob.get(id) ?? [];
    if (job === undefined || found.length > 1) faults.push(`job ${id} has ${found.length} results`);
    if (job?.accepted === true && found.length === 0) faults.push(`job ${id} was accepted and has no result`);
    const [name] = found;
    if (job !== undefined && name !== undefined) faults.push(...checkResult(join(stateDir, 'results', name), job));
    const { artifact } = job?.mixed ?? {};
    if (artifact !== undefined && existsSync(artifact.path) && statSync(artifact.path).size !== artifact.bytes) {
      faults.push(`job ${id} has half an artifact`);
    }
  }
  return faults;
}

function checkResult(path: string, { said }: JobHistory): string[] {
  const result = readResult(path);
  if (result === undefined) return [`${path} is not a result`];
  if (said?.word === 'finished' && said.outcome !== result.outcome) {
    return [`job ${said.jobId} was said to be ${said.outcome} and is recorded as ${result.outcome}`];
  }
  // A session that its host gives up fails for its caller. Its record says `canceled` if the host came to write that.
  const givenUp = said?.word === 'failed' && said.code === 'session.ended' && result.outcome === 'canceled';
  if (said?.word === 'failed' && result.outcome !== 'failed' && !givenUp) {
    return [`job ${said.jobId} was said to fail with ${said.code} and is recorded as ${result.outcome}`];
  }
  return [];
}

/** Counts all results. Returns the files that do not belong there as faults. */
export function tallyResults(stateDir: string, history: History): { tally: Tally; faults: string[] } {
  const faults: string[] = [];
  const folder = join(stateDir, 'results');
  const accepted = [...history.jobs.values()].filter((job) => job.accepted).length;
  const tally: Tally = { ordered: history.jobs.size, accepted, finished: 0, failed: 0, canceled: 0, hostLost: 0 };
  for (const name of readdirSync(folder)) {
    const id = name.split('.')[0] ?? '';
    const result = readResult(join(folder, name));
    if (!name.endsWith('.1.json') || result?.jobId !== id || !history.jobs.has(id))
      faults.push(`${name} is not a result`);
    // A job may have been accepted without a word of its host, which was killed. It is valid, but not in the sum.
    if (result === undefined || history.jobs.get(id)?.accepted !== true) continue;
    if (result.outcome === 'canceled') tally.canceled += 1;
    else if (result.error?.name === 'job.host-lost' || result.error?.name.includes('.') === true) tally.failed += 1;
    else tally.finished += 1;
    if (result.error?.name === 'job.host-lost') tally.hostLost += 1;
  }
  if (tally.accepted !== tally.finished + tally.failed + tally.canceled) {
    faults.push(`accepted is not finished + failed + canceled: ${JSON.stringify(tally)}`);
  }
  return { tally, faults };
}

function readResult(path: string): JobResult | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as JobResult;
  } catch {
    // A partial or missing result: the caller reports it.
    return undefined;
  }
}
