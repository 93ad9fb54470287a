import type { JobResult } from '../contracts/result.ts';
import { errorEntry, type ErrorCode } from '../contracts/error-registry.ts';
import type { AcceptedJob } from './accepted-job.ts';

/** The result of a job that we failed: its host died (`job.host-lost`), or could not go on. Nothing is known of its program. */
export function lostResult(
  { jobId, kind, attempt }: AcceptedJob,
  code: ErrorCode = 'job.host-lost',
  message?: string,
): JobResult {
  return {
    jobId,
    kind,
    runner: 'local',
    isolation: 'none',
    attempt,
    outcome: 'failed',
    exitCode: null,
    signal: null,
    stdout: { text: '', bytes: 0, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
    error: { name: code, message: message ?? errorEntry(code).advice, stack: '' },
    artifacts: [],
    omitted: [],
    calls: [],
    skills: { active: [], digest: null, instructionSha256: null },
    sources: [],
    usage: { wallMs: null, cpuMs: null, maxRssBytes: null, startMs: null, warm: false },
    diagnostics: [{ code, severity: 'error', message: message ?? errorEntry(code).advice }],
  };
}
