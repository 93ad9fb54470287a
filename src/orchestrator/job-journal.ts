import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { JobResult } from '../contracts/result.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../runners/owner.ts';
import type { AcceptedJob } from './accepted-job.ts';
import { lostResult } from './lost-result.ts';

/** What survives a crash: every accepted job, and one result for each. */
export interface JobJournal {
  /** Returns once the job is on the disk. @throws SkillcellError `state.write-failed`, and `job.invalid` for a known id */
  accept(job: AcceptedJob): void;
  /** Records a result, once. @throws SkillcellError `state.write-failed` */
  finish(result: JobResult): void;
  /** Jobs that earlier owners accepted and did not finish; each is recorded as failed with `job.host-lost`. */
  readonly lost: readonly JobResult[];
  close(): void;
}

const JOURNAL = 'accepted-';
const RESULTS = 'results';

/**
 * Opens the journal of a folder. Several live owners may share it: each appends to a file of its own, and only what a dead
 * owner left is settled here.
 *
 * @throws SkillcellError `state.write-failed` when the folder cannot be written
 */
export function openJobJournal(folder: string): JobJournal {
  const results = join(folder, RESULTS);
  const path = join(folder, `${JOURNAL}${ownerName(currentOwner())}-${randomBytes(4).toString('hex')}.jsonl`);
  const lost: JobResult[] = [];
  let descriptor = -1;
  guard('open the state folder', () => {
    mkdirSync(results, { recursive: true });
    descriptor = openSync(path, 'ax', 0o600);
    syncFolder(folder);
    for (const name of readdirSync(folder)) if (isLeftOver(name)) lost.push(...settle(join(folder, name), results));
  });
  return {
    lost,
    accept(job) {
      guard('accept the job', () => {
        if (existsSync(join(results, resultName(job)))) {
          throw new SkillcellError(
            'job.invalid',
            `Cannot accept the job: its id has a result already, got ${job.jobId}.`,
          );
        }
        writeWhole(descriptor, `${JSON.stringify(job)}\n`);
        fsyncSync(descriptor);
      });
    },
    finish(result) {
      guard('record the result', () => recordOnce(results, result));
    },
    close() {
      if (descriptor < 0) return;
      closeSync(descriptor);
      descriptor = -1;
      // Every job of this journal has its result: only a dead owner's is of use to anyone.
      unlinkSync(path);
    },
  };
}

function isLeftOver(name: string): boolean {
  if (!name.startsWith(JOURNAL)) return false;
  const owner = parseOwnerName(name.slice(JOURNAL.length));
  return owner !== undefined && isDead(owner);
}

/** Gives every unfinished job of a dead owner its result, and removes the journal. */
function settle(journal: string, results: string): JobResult[] {
  const known = new Set(readdirSync(results));
  const lost: JobResult[] = [];
  for (const line of readFileSync(journal, 'utf8').split('\n')) {
    const job = readLine(line);
    if (job === undefined || known.has(resultName(job))) continue;
    const result = lostResult(job);
    if (recordOnce(results, result)) lost.push(result);
  }
  unlinkSync(journal);
  return lost;
}

/** A line that was cut off by a crash was never accepted: the job's caller has not heard of it. */
function readLine(line: string): AcceptedJob | undefined {
  try {
    return JSON.parse(line) as AcceptedJob;
  } catch {
    return undefined;
  }
}

function resultName({ jobId, attempt }: { jobId: string; attempt: number }): string {
  return `${jobId}.${attempt}.json`;
}

/** Writes a result under a temporary name and links it to its own, which fails when there is one: the first one counts. */
function recordOnce(results: string, result: JobResult): boolean {
  const temporary = join(results, `.${randomBytes(8).toString('hex')}.part`);
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeWhole(file, JSON.stringify(result));
    fsyncSync(file);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  } finally {
    closeSync(file);
  }
  try {
    linkSync(temporary, join(results, resultName(result)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(temporary);
    syncFolder(results);
  }
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
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
