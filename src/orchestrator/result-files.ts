import { closeSync, existsSync, fsyncSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { JobResult } from '../contracts/result.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../runners/owner.ts';
import { syncFolder, writeWhole } from './durable-file.ts';

/** What names a result. */
type Attempt = Pick<JobResult, 'jobId' | 'attempt'>;

/** A result on its way to the disk: its name begins with the owner, who alone may finish it. */
const TORN = /^\.(.+)\.part$/;

/** Whether an attempt has its result. */
export function hasResult(folder: string, attempt: Attempt): boolean {
  return existsSync(join(folder, resultName(attempt)));
}

/** The greatest number of an attempt of a job that has a result; 0 where none has. */
export function lastAttempt(folder: string, jobId: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith(`${jobId}.`));
  return Math.max(0, ...names.map((name) => Number(/^\.(\d+)\.json$/.exec(name.slice(jobId.length))?.[1] ?? 0)));
}

/**
 * Writes a result under a temporary name and links it to its own, which fails when there is one: the first one counts.
 *
 * @returns whether this was the first
 */
export function recordResult(folder: string, result: JobResult): boolean {
  const temporary = join(folder, `.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}.part`);
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeWhole(file, JSON.stringify(result));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
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

/** Removes what dead owners were writing when they died. */
export function removeTornResults(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = parseOwnerName(TORN.exec(name)?.[1] ?? '');
    if (owner !== undefined && isDead(owner)) rmSync(join(folder, name), { force: true });
  }
}

function resultName({ jobId, attempt }: Attempt): string {
  return `${jobId}.${attempt}.json`;
}
