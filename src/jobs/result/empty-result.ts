import type { JobResult } from '../../contracts/jobs/result.ts';
import type { AcceptedJob } from './accepted-job.ts';

/** The result of an accepted job of whose program nothing is known: it fails unless the caller of this says otherwise. */
export function emptyResult({ jobId, kind, attempt }: AcceptedJob): JobResult {
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
    artifacts: [],
    omitted: [],
    calls: [],
    callTotals: {},
    skills: { active: [], digest: null, instructionSha256: null },
    sources: [],
    usage: { wallMs: null, cpuMs: null, maxRssBytes: null, startMs: null, warm: false },
    diagnostics: [],
  };
}
