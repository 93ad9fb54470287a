import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { SUMMARY_COLUMNS } from '../../queue/rows/job-rows.ts';
import { queryWords } from '../../queue/rows/search-words.ts';
import type { Database } from '../../registry/database/database.ts';
import type { JobRow } from '../../registry/database/tables.ts';
import { type JobSummary, summaryOf } from '../schemas/jobs.ts';

/** Filters and place of a list of jobs. */
export interface JobListOptions {
  state?: JobRow['state'] | undefined;
  outcome?: string | undefined;
  kind?: JobRow['kind'] | undefined;
  label?: string | undefined;
  /** Only jobs of this user. */
  userId?: number | undefined;
  /** Words, each of which begins a word of the job. */
  q?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** A part of a list, and the cursor of the next part. */
export interface JobList {
  items: JobSummary[];
  next: string | null;
}

/**
 * The latest jobs first.
 *
 * @throws SkillcellError `cursor.invalid`
 */
export async function listJobs({ db, hasWords }: Database, options: JobListOptions): Promise<JobList> {
  const { state, outcome, kind, label, userId, q, cursor, limit } = options;
  const words = queryWords(q ?? '');
  if (q !== undefined && words.length === 0) return { items: [], next: null };
  let query = db.selectFrom('jobs').select(SUMMARY_COLUMNS.map((name) => `jobs.${name}` as const));
  if (state !== undefined) query = query.where('state', '=', state);
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (label !== undefined) query = query.where('label', '=', label);
  if (userId !== undefined) query = query.where('user_id', '=', userId);
  if (cursor !== undefined) query = query.where('seq', '<', readCursor(cursor));
  if (words.length > 0) {
    query = query.where('seq', 'in', db.selectFrom('job_words').select('rowid').where(hasWords(words)));
  }
  const rows = await query
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(summaryOf),
    next: rows.length > limit && last !== undefined ? writeCursor(last.seq) : null,
  };
}

function writeCursor(seq: number): string {
  return Buffer.from(`jobs:${seq}`).toString('base64url');
}

function readCursor(cursor: string): number {
  const [, seq] = /^jobs:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (seq !== undefined && writeCursor(Number(seq)) === cursor) return Number(seq);
  throw new SkillcellError('cursor.invalid', 'Cannot list the jobs: the cursor belongs to another list.');
}
