import * as z from 'zod/mini';
import { defineTool, type Tool } from '../tools/define/tool.ts';
import { ToolError } from '../tools/define/tool-errors.ts';
import { SCRIPT_ARGUMENTS, SCRIPT_LIMITS } from '../contracts/jobs/limits.ts';
import { quotedText } from '../contracts/text/quoted-text.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';
import { sandboxLimits } from '../sandboxes/sandbox-limits.ts';
import { createJobQueue, type JobQueue } from './supply/job-queue.ts';
import { listFitting } from '../tools/agent/list-fitting.ts';
import type { JobRequest } from './request/job-schema.ts';
import type { PreparedJob } from './prepare/prepare-job.ts';

/** Bytes kept of each stream, and of the value: a result that a call can carry. */
const KEPT_BYTES = 64 * 1024;
/** The script's own time, and some for its sandbox to start. */
const TIMEOUT_MS = SCRIPT_LIMITS.runTimeoutMs + 30_000;
/** Scripts of one job that wait for another one of it. */
const MAX_WAITING = 64;
/** Codes of what is wrong with a call, and not with us. */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'job.invalid',
  'script.interpreter-unknown',
  'script.not-listed',
  'script.requirements-missing',
]);

const inputSchema = z.strictObject({
  skill: z.string().check(z.maxLength(200)),
  script: z.string().check(z.maxLength(4_096)),
  args: z.optional(z.array(z.string()).check(z.maxLength(SCRIPT_ARGUMENTS.count))),
});

/** Options of {@link createRunScriptTool}. */
export interface RunScriptToolOptions {
  /** The job that runs under an id. */
  jobOf(jobId: string): PreparedJob | undefined;
  /** Runs a job that waits for its place in this queue, with the skills of the job that calls. */
  run(request: JobRequest, queue: JobQueue, skills: SkillsSubsystem | undefined): Promise<JobResult>;
}

/**
 * The tool by which the code of a job runs scripts of the job's own skills: each in a sandbox of its own, without tools and without
 * the job's files, one after the other. They take no job's place, so that a job never waits for itself.
 */
export function createRunScriptTool({ jobOf, run }: RunScriptToolOptions): Tool {
  const queues = new WeakMap<PreparedJob, JobQueue>();
  const queueOf = (job: PreparedJob): JobQueue => {
    const queue = queues.get(job) ?? createJobQueue(1, MAX_WAITING);
    queues.set(job, queue);
    return queue;
  };
  return defineTool({
    id: 'skills.run_script',
    description:
      "Runs a script of one of the job's skills in a sandbox of its own, with the skill's folder as working folder, and gives { outcome, exitCode, stdout, stderr, value }. `script` is a path below the skill's folder, such as scripts/check.py.",
    input: inputSchema,
    // What it does stays in a sandbox that is gone afterwards.
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
  { skill, script, args = [] }: z.output<typeof inputSchema>,
): JobRequest {
  // Those that it loaded while it ran are as much its own.
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
    // A skill that the job has is one that it may have, also where only another skill could ask for it.
    skills: { consumer, includeInternal: true },
    limits: {
      ...sandboxLimits(limits),
      runTimeoutMs: Math.min(limits.runTimeoutMs, SCRIPT_LIMITS.runTimeoutMs),
      keptOutputBytes: Math.min(limits.keptOutputBytes, KEPT_BYTES),
      valueBytes: Math.min(limits.valueBytes, KEPT_BYTES),
    },
  };
}

/** What the code that called learns of a script. */
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
