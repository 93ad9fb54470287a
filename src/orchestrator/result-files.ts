import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JobResult } from '../contracts/result.ts';
import { syncFolder, writeAside } from '../durable/durable-file.ts';

/** What names a result. */
type Attempt = Pick<JobResult, 'jobId' | 'attempt'>;

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
