import * as z from 'zod';
import type { Selectable } from 'kysely';
import { ISOLATION_LEVELS, type JobResult } from '../../contracts/jobs/result.ts';
import { shownRequest, type StoredRequest } from '../../queue/request/job-request.ts';
import type { JobSummaryRow } from '../../queue/rows/job-rows.ts';
import type { JobRow } from '../../registry/database/tables.ts';

const OUTCOMES = ['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled'] as const;
const kindSchema = z.enum(['exec', 'codegen', 'script']);
const stateSchema = z.enum(['waiting', 'running', 'finished']);
const outcomeSchema = z.enum(OUTCOMES);

const summaryFields = {
  id: z.string(),
  kind: kindSchema,
  state: stateSchema,
  outcome: outcomeSchema.nullable(),
  errorCode: z.string().nullable().meta({ description: 'Code of the failure, if the job has no result of its own.' }),
  label: z.string().nullable(),
  userId: z.int(),
  attempt: z.int(),
  rerunOf: z.string().nullable(),
  createdAt: z.int(),
  startedAt: z.int().nullable(),
  finishedAt: z.int().nullable(),
};

/** A job in lists. Times are milliseconds since 1970. */
export interface JobSummary extends Pick<JobRow, 'id' | 'kind' | 'state' | 'label' | 'attempt'> {
  outcome: JobResult['outcome'] | null;
  /** Code of the failure, if the job has no result of its own. */
  errorCode: string | null;
  userId: number;
  rerunOf: string | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

/** A job with its request. */
export interface Job extends JobSummary {
  request: Record<string, unknown>;
}

export const jobSummarySchema: z.ZodType<JobSummary> = z.object(summaryFields).meta({ id: 'JobSummary' });
export const jobSchema: z.ZodType<Job> = z
  .object({ ...summaryFields, request: z.record(z.string(), z.unknown()) })
  .meta({ id: 'Job', description: 'The values of `env` and the bytes of files are not shown.' });

const outputText = z.looseObject({ text: z.string(), bytes: z.int(), truncated: z.boolean() });

/** The result of a job, as the library has it. */
export const jobResultSchema: z.ZodType<JobResult> = z
  .looseObject({
    jobId: z.string(),
    kind: kindSchema,
    runner: z.string().nullable(),
    isolation: z.enum(ISOLATION_LEVELS as [string, ...string[]]).nullable(),
    attempt: z.int(),
    outcome: outcomeSchema,
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    stdout: outputText,
    stderr: outputText,
    artifacts: z.array(z.looseObject({ path: z.string(), bytes: z.int(), sha256: z.string(), mediaType: z.string() })),
    omitted: z.array(z.looseObject({ path: z.string(), reason: z.string() })),
    diagnostics: z.array(z.looseObject({ code: z.string(), severity: z.string(), message: z.string() })),
  })
  .meta({ id: 'JobResult', description: 'docs/library.md has all fields.' }) as unknown as z.ZodType<JobResult>;

/** Filters of the list of jobs. */
export const jobFilterFields: Record<'state' | 'outcome' | 'kind', z.ZodType> = {
  state: stateSchema.optional(),
  outcome: outcomeSchema.optional(),
  kind: kindSchema.optional(),
};

/** A row as lists show it. */
export function summaryOf(row: JobSummaryRow): JobSummary {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    outcome: row.outcome as JobSummary['outcome'],
    errorCode: row.error_code,
    label: row.label,
    userId: row.user_id,
    attempt: row.attempt,
    rerunOf: row.rerun_of,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

/** A row with its request. */
export function jobOf(row: Selectable<JobRow>): Job {
  return { ...summaryOf(row), request: shownRequest(JSON.parse(row.request) as StoredRequest) };
}
