import type { JobRows } from './rows/job-rows.ts';
import type { JobFiles } from './seams/job-files.ts';

/** Ids that one query compares with the rows. */
const IDS_AT_ONCE = 500;

/**
 * Removes jobs that finished before a time, and folders without a row.
 *
 * @param accepting jobs that have files, and not yet a row
 */
export async function sweepJobs(
  rows: JobRows,
  files: JobFiles,
  { before, accepting }: { before: number; accepting: ReadonlySet<string> },
): Promise<void> {
  const ids = (await files.ids()).filter((id) => !accepting.has(id));
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE);
    const known = await rows.known(some);
    for (const id of some) if (!known.has(id)) await files.removeStray(id);
  }
  for (;;) {
    const old = await rows.removeBefore(before);
    for (const id of old) await files.remove(id);
    if (old.length === 0) return;
  }
}
