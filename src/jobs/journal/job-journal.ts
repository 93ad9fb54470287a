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

/** Job id and attempt, which name a result. */
type Attempt = Pick<JobResult, 'jobId' | 'attempt'>;

/** Record of every accepted job and its one result, which survives a crash. */
export interface JobJournal {
  /** Returns once the job is on the disk. @throws SkillcellError `state.write-failed`, and `job.invalid` for a known id */
  accept(job: AcceptedJob): void;
  /**
   * Records a result, once. If that fails, the job counts as failed, which is recorded as soon as the disk allows it.
   *
   * @throws SkillcellError `state.write-failed`
   */
  finish(result: JobResult): void;
  /**
   * The number of a job's next attempt: one more than the last attempt with a result. Attempts of dead owners are settled first.
   *
   * @throws SkillcellError `state.write-failed`
   */
  nextAttempt(jobId: string): number;
  close(): void;
}

const JOURNAL = 'accepted-';
const RESULTS = 'results';

/**
 * Opens the journal of a folder. Several live owners may share it: each appends to a file of its own, and only jobs of dead
 * owners are settled here.
 *
 * @param onLost called for each unfinished job of a dead owner, when it is recorded as failed with `job.host-lost`
 * @throws SkillcellError `state.write-failed` if the folder cannot be written
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
        // The disk still refuses them. Their callers got an error already, and the next result tries again.
      }
    },
    close() {
      if (descriptor < 0) return;
      closeSync(descriptor);
      descriptor = -1;
      guard('record the results that could not be recorded before', payOff);
      // Every job of this journal has its result, so the journal is no longer needed.
      rmSync(path, { force: true });
    },
  };
}

/** Appends a whole line or nothing: a line cut off by a full disk would make the next line unreadable. */
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

/** Records a result for every unfinished job of a dead owner, and removes its journal. Two successors may do this concurrently. */
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
    // Another successor has settled this journal since the folder was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Parses a line; undefined for a line cut off by a crash. Its job was never accepted: the caller got no answer. */
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

/** The highest attempt of a job with a result; 0 without a result. */
function lastAttempt(folder: string, jobId: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith(`${jobId}.`));
  return Math.max(0, ...names.map((name) => Number(/^\.(\d+)\.json$/.exec(name.slice(jobId.length))?.[1] ?? 0)));
}

/**
 * Writes a result under a temporary name and links it to its final name. The link fails if a result exists: the first result counts.
 *
 * @returns whether this was the first result
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
