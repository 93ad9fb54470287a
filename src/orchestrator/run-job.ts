import { createBroker, type Broker } from '../broker/broker.ts';
import type { ModelGateway } from '../broker/model-gateway.ts';
import type { ToolHandler } from '../broker/tool-handler.ts';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../contracts/error-registry.ts';
import type { JobResult, ResultSkills } from '../contracts/result.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { ARTIFACT_STREAM, type HostMessage, type SandboxMessage } from '../protocol/messages.ts';
import { assembleResult } from './assemble-result.ts';
import type { EmitEvent } from './event-stream.ts';
import { createJobEnding, type JobEnding } from './job-ending.ts';
import { createOutputEvents, type OutputEvents } from './output-events.ts';
import type { PreparedJob } from './prepare-job.ts';
import { receiveArtifacts, type ArtifactCollector } from './receive-artifacts.ts';
import { receiveOutput, type OutputCollector } from './receive-output.ts';
import type { SandboxSession } from './sandbox-session.ts';
import { sendJob } from './send-job.ts';
import { settleResult } from './settle-result.ts';

/** What a run needs besides the job and its sandbox. */
export interface RunJobOptions {
  attempt: number;
  signal: AbortSignal;
  emit: EmitEvent;
  tools: ReadonlyMap<string, ToolHandler>;
  model: ModelGateway | undefined;
  warm: boolean;
  /** About where the job runs. */
  diagnostics: Diagnostic[];
  onToolFailure(name: string, error: unknown): void;
  /** Calls a function with the job's skills as the active ones. */
  withSkills<T>(fn: () => T): T;
}

/** The host's side of one run: what takes what the sandbox sends. */
interface JobRun {
  job: PreparedJob;
  session: SandboxSession;
  options: RunJobOptions;
  ending: JobEnding;
  broker: Broker;
  output: OutputCollector;
  outputEvents: OutputEvents;
  artifacts: ArtifactCollector;
  /** What the sandbox says arrived there. */
  skills: ResultSkills | undefined;
}

/**
 * Runs one job in one sandbox that has served none. The sandbox is left to its owner to end.
 *
 * @throws SkillcellError when we failed: never for what user code did
 */
export async function runJob(
  job: PreparedJob,
  session: SandboxSession,
  options: RunJobOptions,
): Promise<{ result: JobResult; kept: Map<string, Buffer> }> {
  const started = performance.now();
  const run = startRun(job, session, options);
  const { ending, broker, output, artifacts } = run;
  try {
    if (options.signal.aborted) ending.cancel('canceled');
    const sent = sendJob(job, session);
    sent.catch((error: unknown) => ending.settle({ kind: 'fault', error: error as Error }));
    const ended = await ending.ended;
    // What fails for a job that is canceled makes no difference any more.
    if (ended.kind === 'fault' && ending.canceledFor !== 'canceled') throw ended.error;
    const result = await settleResult(ended, run);
    throwModelFailure(run);
    run.outputEvents.flush();
    const { sandbox, startMs } = session;
    const wallMs = performance.now() - started;
    const parts = { job, result, output, artifacts, skills: run.skills, broker, sandbox, options, wallMs, startMs };
    return { result: assembleResult(parts), kept: artifacts.kept };
  } finally {
    ending.release();
    broker.close();
  }
}

function startRun(job: PreparedJob, session: SandboxSession, options: RunJobOptions): JobRun {
  const { jobId, limits, request, kind } = job;
  const { emit } = options;
  const ending = createJobEnding(job, session, options.signal);
  const broker = createBroker({
    jobId,
    tools: options.tools,
    model: kind === 'codegen' ? options.model : undefined,
    modelName: request.kind === 'codegen' ? request.model : undefined,
    modelCalls: job.globals.JOB.codegen?.maxAttempts,
    limits,
    onToolFailure: options.onToolFailure,
    onAnswered: (call) => void emit({ type: 'call', jobId, call: { ...call } }),
  });
  const outputEvents = createOutputEvents(jobId, emit);
  const output = receiveOutput(limits.keptOutputBytes, (stream, bytes) => outputEvents.write(stream, bytes));
  const artifacts = receiveArtifacts(limits, request.output, (artifact) => emit({ type: 'artifact', jobId, artifact }));
  const run: JobRun = { job, session, options, ending, broker, output, outputEvents, artifacts, skills: undefined };
  session.attach({
    message: (message) => takeMessage(run, message),
    stream: (number) => (number === ARTIFACT_STREAM ? artifacts.reader : output.reader(number)),
    closed: (error) => ending.settle({ kind: 'closed', error }),
  });
  return run;
}

function takeMessage(run: JobRun, message: SandboxMessage): void {
  const { job, options, ending, output } = run;
  const { jobId } = job;
  switch (message.type) {
    case 'skills':
      takeSkills(run, message.skills);
      break;
    case 'run':
      output.begin(message.run);
      run.outputEvents.flush();
      void options.emit({ type: 'run', jobId, run: message.run });
      break;
    case 'attempt':
      void options.emit({ ...message, jobId });
      break;
    case 'call':
      void options.withSkills(() => answerCall(run, message));
      break;
    case 'fault':
      ending.settle({ kind: 'fault', error: faultError(message, run.broker) });
      break;
    case 'result':
      ending.settle({ kind: 'result', result: message.result });
      break;
    case 'ready':
    case 'rehearsed':
      break;
  }
}

/** What the sandbox renders has to be what the host renders. */
function takeSkills(run: JobRun, skills: ResultSkills): void {
  const { job, options, ending } = run;
  const { jobId, instructionSha256: ours } = job;
  run.skills = skills;
  const theirs = skills.instructionSha256;
  if (theirs !== null && theirs !== ours) {
    const message = `Cannot run the job: the [ACTIVE SKILLS] block in the sandbox is not the host's, got ${theirs} instead of ${ours ?? 'none'}.`;
    ending.settle({ kind: 'fault', error: new SkillcellError('skills.instruction-mismatch', message) });
  }
  void options.emit({ type: 'skills', jobId, skills });
}

async function answerCall(
  { broker, ending, session }: JobRun,
  { id, target, name, args }: SandboxMessage & { type: 'call' },
): Promise<void> {
  const reply = await broker.call({ id, target, name, args }, { signal: ending.signal });
  session.channel.send({ type: 'reply', id, ...reply } satisfies HostMessage);
  if (broker.exhausted) ending.cancel('calls');
}

function faultError(message: SandboxMessage & { type: 'fault' }, broker: Broker): Error {
  if (broker.modelFailure !== undefined) return broker.modelFailure;
  const code = Object.hasOwn(ERROR_REGISTRY, message.code) ? (message.code as ErrorCode) : 'internal.fault';
  return new SkillcellError(code, message.message, { diagnostics: message.diagnostics });
}

/** A model that did not answer is a failure of ours, but for one that was too slow, and for a job that was ended anyway. */
function throwModelFailure({ broker, ending }: JobRun): void {
  const failure = broker.modelFailure;
  if (failure !== undefined && failure.name !== 'ModelTimeout' && ending.canceledFor === undefined) throw failure;
}
