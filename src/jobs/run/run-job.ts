import type { ModelBudget } from '../../models/model-budget.ts';
import type { Approve } from '../../tools/calls/approval.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../../contracts/errors/error-registry.ts';
import type { JobResult, ResultSkills } from '../../contracts/jobs/result.ts';
import type { InstalledPackage } from '../../contracts/network/job-packages.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { HostMessage, SandboxMessage } from '../../protocol/messages/messages.ts';
import type { HandedConnections } from '../../egress/hand-over-connections.ts';
import type { OpenNetwork } from '../network/open-job-network.ts';
import type { EmitEvent } from '../events/event-stream.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { createJobEnding } from '../result/job-ending.ts';
import { judgeResult } from '../result/judge-result.ts';
import { jobResult } from '../result/job-result.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { type ArtifactCollector, receiveArtifacts } from '../result/receive-artifacts.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';
import type { RunGround, SandboxRuns } from './run-ground.ts';
import { settleResult } from '../result/settle-result.ts';
import type { TraceSpan } from '../tracing/trace-span.ts';
import type { StreamWriter } from '../../protocol/channel/channel.ts';
import { writeTar } from '../../protocol/files/tar.ts';
import { openInputFiles } from '../prepare/input-files.ts';
import { sendSkills } from '../prepare/skill-archives.ts';

const MIB = 1024 * 1024;

/** Bytes of results under way to one sandbox. */
const RESULT_BYTES = 32 * 1024 * 1024;

/** Options of {@link runJob}, besides the job and its sandbox. */
export interface RunJobOptions {
  attempt: number;
  signal: AbortSignal;
  emit: EmitEvent;
  approve: Approve | undefined;
  budget: ModelBudget;
  warm: boolean;
  /** Diagnostics of the choice of the sandbox. */
  diagnostics: Diagnostic[];
  /** Span of the job. */
  span: TraceSpan;
  /** The open network of the job; absent without one. */
  network?: OpenNetwork | undefined;
  onToolFailure: RunGround['onToolFailure'];
  /** Calls a function with the job's skills as the active ones. */
  withSkills<T>(fn: () => T): T;
}

/** Host-side state of a job in its sandbox. */
interface JobRun {
  ground: RunGround;
  runs: SandboxRuns;
  artifacts: ArtifactCollector;
  connections: HandedConnections | undefined;
  /** Skills that arrived in the sandbox. */
  skills: ResultSkills | undefined;
  /** Packages that the sandbox has installed before its program. */
  packages: InstalledPackage[] | undefined;
}

/**
 * Runs one job in one fresh sandbox. The caller must end the sandbox afterwards.
 *
 * @param runs the runs of the job's program, or of its session
 * @throws SkillcellError when we failed: never because of user code
 */
export async function runJob(
  job: PreparedJob,
  sandbox: SandboxSession,
  runs: SandboxRuns,
  options: RunJobOptions,
): Promise<{ result: JobResult; kept: Map<string, Buffer> }> {
  const startedAt = performance.now();
  const run = startJob(job, sandbox, runs, options);
  const { ground, artifacts } = run;
  const { ending } = ground;
  let result: JobResult | undefined;
  try {
    if (options.signal.aborted) ending.cancel('canceled');
    const sent = sendJob(job, sandbox, options.network);
    sent.catch((error: unknown) => ending.settle({ kind: 'fault', error: error as Error }));
    const ended = await ending.ended;
    // A failure makes no difference to a canceled job.
    if (ended.kind === 'fault' && ending.canceledFor !== 'canceled') throw ended.error;
    const settled = await settleResult(ended, { session: sandbox, artifacts, ending });
    throwModelFailure(run);
    runs.end(undefined);
    const said = await judgeResult(settled, job);
    const counted = await sandbox.sandbox.usage?.();
    const network = await options.network?.close();
    const { attempt, warm, diagnostics, budget } = options;
    const wallMs = performance.now() - startedAt;
    const accepted = { jobId: job.jobId, kind: job.kind, attempt };
    const ran = {
      said,
      runs,
      artifacts,
      skills: run.skills,
      packages: run.packages,
      sandbox,
      counted,
      budget,
      warm,
      diagnostics,
      wallMs,
      network,
    };
    result = jobResult({ accepted, job, ran });
    return { result, kept: artifacts.kept };
  } catch (error) {
    runs.end(error as Error);
    throw error;
  } finally {
    ending.release();
    runs.close(result);
  }
}

function startJob(job: PreparedJob, sandbox: SandboxSession, runs: SandboxRuns, options: RunJobOptions): JobRun {
  const { jobId, limits, request } = job;
  const { emit, approve, span, onToolFailure, network } = options;
  const ending = createJobEnding(job, sandbox, options.signal);
  const traffic = { channel: sandbox.channel, results: createLimiter({ room: RESULT_BYTES }), arriving: { bytes: 0 } };
  const artifacts = receiveArtifacts(limits, request.output, (artifact) => emit({ type: 'artifact', jobId, artifact }));
  const ground: RunGround = { job, sandbox, ending, emit, approve, network, onToolFailure, span, traffic };
  network?.onExhausted(() => ending.cancel('network'));
  const connections = network?.handOver(sandbox.channel);
  const run: JobRun = { ground, runs, artifacts, connections, skills: undefined, packages: undefined };
  runs.begin(ground);
  sandbox.attach({
    message: (message) => takeMessage(run, message),
    call: (call) => void options.withSkills(() => runs.call(call, ending.signal)),
    closed: (error) => ending.settle({ kind: 'closed', error }),
  });
  return run;
}

function takeMessage(run: JobRun, message: SandboxMessage): void {
  const { ground, runs, artifacts } = run;
  const { sandbox, ending } = ground;
  if (message.type === 'skills') takeSkills(run, message.skills);
  if (message.type === 'connection' || message.type === 'reset') {
    if (run.connections === undefined) throw new Error('a connection of a job without a network');
    return run.connections.take(message);
  }
  if (message.type === 'installed') {
    if (ground.network === undefined) throw new Error('packages that were not asked for');
    ground.network.installed();
    run.packages = message.packages;
    return;
  }
  runs.message(message);
  if (message.type === 'artifacts') sandbox.channel.receive(message.stream, artifacts.begin());
  else if (message.type === 'fault') ending.settle({ kind: 'fault', error: faultError(message, runs) });
  else if (message.type === 'result') ending.settle({ kind: 'result', result: message.result });
}

/** Adds requested skills to the skills that the job began with. */
function withMore(first: ResultSkills, { active }: ResultSkills): ResultSkills {
  return { ...first, active: [...new Set([...first.active, ...active])] };
}

/** The sandbox must render the same block as the host. */
function takeSkills(run: JobRun, skills: ResultSkills): void {
  const { job, emit, ending } = run.ground;
  const { jobId, instructionSha256: ours } = job;
  const theirs = skills.instructionSha256;
  const first = run.skills;
  run.skills = first === undefined ? skills : withMore(first, skills);
  const isOurs = first === undefined ? theirs === null || theirs === ours : run.runs.expectsBlock(theirs);
  if (!isOurs) {
    const message = `Cannot run the job: the [ACTIVE SKILLS] block in the sandbox is not the host's, got ${theirs} instead of ${ours ?? 'none'}.`;
    ending.settle({ kind: 'fault', error: new SkillcellError('skills.instruction-mismatch', message) });
  }
  void emit({ type: 'skills', jobId, skills });
}

function faultError(message: SandboxMessage & { type: 'fault' }, { modelFailure }: SandboxRuns): Error {
  if (modelFailure !== undefined) return modelFailure;
  const code = Object.hasOwn(ERROR_REGISTRY, message.code) ? (message.code as ErrorCode) : 'internal.fault';
  return new SkillcellError(code, message.message, { diagnostics: message.diagnostics });
}

/** A model without an answer is our failure, unless it was too slow or the job was ended anyway. */
function throwModelFailure({ runs, ground }: JobRun): void {
  const failure = runs.modelFailure;
  if (failure !== undefined && failure.name !== 'ModelTimeout' && ground.ending.canceledFor === undefined)
    throw failure;
}

/** Sends a job with its skills, files and stdin to its sandbox, with backpressure. */
async function sendJob(job: PreparedJob, { channel }: SandboxSession, network: OpenNetwork | undefined): Promise<void> {
  const { trees, files, stdin } = job;
  const open = (isNeeded: boolean): StreamWriter | undefined => (isNeeded ? channel.openStream() : undefined);
  const globals = channel.openStream();
  const writers = { skills: open(trees.size > 0), files: open(files.length > 0), stdin: open(stdin !== undefined) };
  const numbers = Object.entries(writers).flatMap(([name, writer]) =>
    writer === undefined ? [] : [[name, writer.number]],
  );
  channel.send({ type: 'start', globals: globals.number, ...Object.fromEntries(numbers) } satisfies HostMessage);
  const { JOB } = job.globals;
  const told = network === undefined ? job.globals : { ...job.globals, JOB: { ...JOB, ...network.sandbox } };
  await globals.write(Buffer.from(JSON.stringify(told)));
  globals.end();
  if (writers.skills !== undefined) await sendSkills(trees, writers.skills);
  if (writers.files !== undefined) await writeTar(openInputFiles(files, job.limits.workspaceMib * MIB), writers.files);
  if (writers.stdin !== undefined && stdin !== undefined) {
    await writers.stdin.write(stdin);
    writers.stdin.end();
  }
}
