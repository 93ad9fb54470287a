import type * as z from 'zod/mini';
import { defineTool, type Tool } from '../tools/define/tool.ts';
import { ToolError } from '../tools/define/tool-errors.ts';
import { SCRIPT_LIMITS } from '../contracts/jobs/limits.ts';
import { quotedText } from '../contracts/text/quoted-text.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';
import { sandboxLimits } from '../sandboxes/sandbox-limits.ts';
import { createJobQueue, type JobQueue } from './supply/job-queue.ts';
import { RUN_SKILL_SCRIPT } from '../tools/agent/skill-tools-table.ts';
import { listFitting } from '../tools/agent/list-fitting.ts';
import type { JobRequest } from './request/job-schema.ts';
import type { PreparedJob } from './prepare/prepare-job.ts';

/** Maximum bytes of each stream and of the value, so that the answer of a call can hold the result. */
const KEPT_BYTES = 64 * 1024;
/** Time of the script, and 30 s for the start of its sandbox. */
const TIMEOUT_MS = SCRIPT_LIMITS.runTimeoutMs + 30_000;
/** Maximum number of waiting scripts of one job. */
const MAX_WAITING = 64;
/** Codes of errors that the caller of the tool caused. */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'job.invalid',
  'script.interpreter-unknown',
  'script.not-listed',
  'script.requirements-missing',
]);

/** Options of {@link createRunScriptTool}. */
export interface RunScriptToolOptions {
  /** The job that runs under an id. */
  jobOf(jobId: string): PreparedJob | undefined;
  /** Runs a job that waits for its place in this queue, with the skills of the job that calls. */
  run(request: JobRequest, queue: JobQueue, skills: SkillsSubsystem | undefined): Promise<JobResult>;
}

/**
 * The tool by which the code of a job runs scripts of the job's own skills, one at a time, each in its own sandbox without tools and
 * without the job's files. Scripts have a queue of their own: in the host's queue a job could wait for itself.
 */
export function createRunScriptTool({ jobOf, run }: RunScriptToolOptions): Tool {
  const queues = new WeakMap<PreparedJob, JobQueue>();
  const queueOf = (job: PreparedJob): JobQueue => {
    const queue = queues.get(job) ?? createJobQueue(1, MAX_WAITING);
    queues.set(job, queue);
    return queue;
  };
  return defineTool({
    id: RUN_SKILL_SCRIPT.id,
    description: RUN_SKILL_SCRIPT.forPrograms,
    input: RUN_SKILL_SCRIPT.input,
    // The effects of the script stay in its sandbox, which is removed afterwards.
    effect: 'read',
    timeoutMs: TIMEOUT_MS,
    async execute(input, { jobId, signal }) {
      const job = jobOf(jobId);
      if (job === undefined) throw new ToolError('The job is over.');
      try {
        return shown(await run({ ...requestOf(job, input), signal }, queueOf(job), job.subsystem));
      } catch (error) {
        if (SkillcellError.isInstance(error) && OF_THE_CALL.has(error.code)) throw new ToolError(error.message);
        throw error;
      }
    },
  });
}

function requestOf(
  { active: brought, disclosure, request, limits, globals }: PreparedJob,
  { skill, script, args = [] }: z.output<typeof RUN_SKILL_SCRIPT.input>,
): JobRequest {
  // Skills that the job loaded while it ran count as its own.
  const active = [...new Set([...brought, ...(disclosure?.active ?? [])])];
  const id = active.find((name) => name === skill || name === `public.${skill}`);
  if (id === undefined) {
    const has = active.length === 0 ? 'the job has no skills' : `the skills of the job are ${listFitting(active)}`;
    throw new ToolError(`Cannot run a script: ${has}, got ${quotedText(skill)}.`);
  }
  const { runner, isolation } = request;
  const { consumer } = globals.JOB.skills;
  return {
    kind: 'script',
    skill: id,
    script,
    args,
    ...(runner === undefined ? {} : { runner }),
    ...(isolation === undefined ? {} : { isolation }),
    // The job has the skill already, so internal skills (which only other skills may import) are allowed too.
    skills: { consumer, includeInternal: true },
    limits: {
      ...sandboxLimits(limits),
      runTimeoutMs: Math.min(limits.runTimeoutMs, SCRIPT_LIMITS.runTimeoutMs),
      keptOutputBytes: Math.min(limits.keptOutputBytes, KEPT_BYTES),
      valueBytes: Math.min(limits.valueBytes, KEPT_BYTES),
    },
  };
}

/** The result of a script, as shown to the calling code. */
function shown(result: JobResult): Record<string, unknown> {
  const { outcome, limit, exitCode, stdout, stderr, error } = result;
  return {
    outcome,
    ...(limit === undefined ? {} : { limit }),
    exitCode,
    stdout,
    stderr,
    ...('value' in result ? { value: result.value } : {}),
    ...(error === undefined ? {} : { error: { name: error.name, message: error.message } }),
  };
}
