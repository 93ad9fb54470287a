import {
  CODEGEN_JOB_TIMEOUT_MS,
  DEFAULT_LIMITS,
  LIMIT_CEILINGS,
  SCRIPT_LIMITS,
  type JobLimits,
} from '../../contracts/jobs/limits.ts';
import type { JobKind } from '../../contracts/jobs/result.ts';
import { invalid } from './job-schema.ts';

/** Time of the whole job in addition to its one run, in milliseconds, if only the run's clock was set. */
const AROUND_RUN_MS = 10_000;

/**
 * The limits of a job: the requested values, else the defaults, never above the orchestrator's ceilings. A requested value above
 * a ceiling is an error; a default above a ceiling is lowered to it.
 */
export function effectiveLimits(kind: JobKind, asked: Partial<JobLimits>, ceilings: Partial<JobLimits>): JobLimits {
  const limits = { ...DEFAULT_LIMITS, ...(kind === 'codegen' ? { jobTimeoutMs: CODEGEN_JOB_TIMEOUT_MS } : {}) };
  const most: Partial<JobLimits> = kind === 'script' ? SCRIPT_LIMITS : {};
  const run = asked.runTimeoutMs;
  if (run !== undefined && kind !== 'codegen') limits.jobTimeoutMs = Math.max(limits.jobTimeoutMs, run + AROUND_RUN_MS);
  for (const name of Object.keys(limits) as (keyof JobLimits)[]) {
    const ceiling = Math.min(ceilings[name] ?? LIMIT_CEILINGS[name], most[name] ?? Number.POSITIVE_INFINITY);
    const value = asked[name];
    if (value !== undefined && value > ceiling)
      throw invalid(`limits.${name} must be at most ${ceiling}, got ${value}`);
    limits[name] = Math.min(value ?? limits[name], ceiling);
  }
  return limits;
}
