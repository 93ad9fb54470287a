import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { makeFolders } from '../../durable/make-folders.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';
import type { AcceptedJob } from '../result/accepted-job.ts';
import { removeTorn, syncFolder, writeAside, writeWhole } from '../../durable/durable-file.ts';
import { lostResult } from '../result/job-result.ts';

/** What names a result. */
type Attempt = Pick<JobResult, 'jobId' | 'attempt'>;

/** What survives a crash: every accepted job, and one result for each. */
export interface JobJournal {
  /** Returns once the job is on the disk. @throws SkillcellError `state.write-failed`, and `job.invalid` for a known id */
  accept(job: AcceptedJob): void;
  /**
   * Records a result, once. When that fails the job counts as failed, which is recorded as soon as the disk allows it.
   *
   * @throws SkillcellError `state.write-failed`
   */
  finish(result: JobResult): void;
  /**
   * The number of a job's next attempt: one behind those that have a result, after those of owners that died meanwhile have theirs.
   *
   * @throws SkillcellError `state.write-failed`
   */
  nextAttempt(jobId: string): number;
  close(): void;
}

const JOURNAL = 'accepted-';
const RESULTS = 'results';

/**
 * Opens the journal of a folder. Several live owners may share it: each appends to a file of its own, and only what a dead
 * owner left is settled here.
 *
 * @param onLost called with each job that a dead owner accepted and did not finish, when it is recorded as failed with `job.host-lost`
 * @throws SkillcellError `state.write-failed` when the folder cannot be written
 */
export function openJobJournal(folder: string, onLost: (result: JobResult) => void = () => undefined): JobJournal {
  const results = join(folder, RESULTS);
  const path = join(folder, `${JOURNAL}${ownerName(currentOwner())}-${randomBytes(4).toString('hex')}.jsonl`);
  /** Failed jobs whose failure is not on the disk yet. */
  const owed = new Map<string, JobResult>();
  let descriptor = -1;
  const settleDead = (): void => {
    for (const name of readdirSync(folder)) if (isLeftOver(name)) settle(join(folder, name), results, onLost);
  };
  guard('open the state folder', () => {
    makeFolders(results);
    settleDead();
    removeTorn(results);
    descriptor = openSync(path, 'ax', 0o600);
    syncFolder(folder);
  });

  const payOff = (): void => {
    for (const [jobId, result] of owed) {
      recordResult(results, result);
      owed.delete(jobId);
    }
  };

  return {
    nextAttempt(jobId) {
      guard('settle the jobs of others', settleDead);
      return lastAttempt(results, jobId) + 1;
    },
    accept(job) {
      guard('accept the job', () => {
        if (hasResult(results, job) || owed.has(job.jobId)) {
          throw new SkillcellError(
            'job.invalid',
            `Cannot accept the job: its id has a result already, got ${job.jobId}.`,
          );
        }
        append(descriptor, `${JSON.stringify(job)}\n`);
      });
    },
    finish(result) {
      try {
        guard('record the result', () => recordResult(results, result));
      } catch (error) {
        const { code, message } = error as SkillcellError;
        owed.set(result.jobId, lostResult(result, code, message));
        throw error;
      }
      if (owed.size === 0) return;
      try {
        payOff();
      } catch {
        // Still no room for those: their callers have heard of it, and the next result tries again.
      }
    },
    close() {
      if (descriptor < 0) return;
      closeSync(descriptor);
      descriptor = -1;
      guard('record the results that could not be recorded before', payOff);
      // Every job of this journal has its result: only a dead owner's is of use to anyone.
      rmSync(path, { force: true });
    },
  };
}

/** Appends a line whole or not at all: what a full disk has cut off would make the next line unreadable. */
function append(descriptor: number, line: string): void {
  const { size } = fstatSync(descriptor);
  try {
    writeWhole(descriptor, line);
    fsyncSync(descriptor);
  } catch (error) {
    ftruncateSync(descriptor, size);
    throw error;
  }
}

function isLeftOver(name: string): boolean {
  if (!name.startsWith(JOURNAL)) return false;
  const owner = parseOwnerName(name.slice(JOURNAL.length));
  return owner !== undefined && isDead(owner);
}

/** Gives every unfinished job of a dead owner its result, and removes the journal. Two successors may do so at once. */
function settle(journal: string, results: string, onLost: (result: JobResult) => void): void {
  for (const line of readLines(journal)) {
    const job = readLine(line);
    if (job === undefined || hasResult(results, job)) continue;
    const result = lostResult(job);
    if (recordResult(results, result)) onLost(result);
  }
  rmSync(journal, { force: true });
}

function readLines(journal: string): string[] {
  try {
    return readFileSync(journal, 'utf8').split('\n');
  } catch (error) {
    // Another successor has settled it since the folder was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A line that was cut off by a crash was never accepted: the job's caller has not heard of it. */
function readLine(line: string): AcceptedJob | undefined {
  try {
    const job = JSON.parse(line) as Partial<AcceptedJob> | null;
    const whole = typeof job?.jobId === 'string' && typeof job.kind === 'string' && typeof job.attempt === 'number';
    return whole ? (job as AcceptedJob) : undefined;
  } catch {
    return undefined;
  }
}

function guard(what: string, action: () => void): void {
  try {
    action();
  } catch (cause) {
    if (SkillcellError.isInstance(cause)) throw cause;
    throw new SkillcellError('state.write-failed', `Cannot ${what}: ${(cause as Error).message}.`, { cause });
  }
}

/** Whether an attempt has its result. */
function hasResult(folder: string, attempt: Attempt): boolean {
  return existsSync(join(folder, resultName(attempt)));
}

/** The greatest number of an attempt of a job that has a result; 0 where none has. */
function lastAttempt(folder: string, jobId: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith(`${jobId}.`));
  return Math.max(0, ...names.map((name) => Number(/^\.(\d+)\.json$/.exec(name.slice(jobId.length))?.[1] ?? 0)));
}

/**
 * Writes a result under a temporary name and links it to its own, which fails when there is one: the first one counts.
 *
 * @returns whether this was the first
 */
function recordResult(folder: string, result: JobResult): boolean {
  const temporary = writeAside(folder, JSON.stringify(result));
  try {
    linkSync(temporary, join(folder, resultName(result)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
    syncFolder(folder);
  }
}

function resultName({ jobId, attempt }: Attempt): string {
  return `${jobId}.${attempt}.json`;
}
