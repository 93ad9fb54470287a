import { createBroker, type Broker } from '../../tools/calls/broker.ts';
import { HOST_CALL, type BrokerReply } from '../../tools/calls/broker-call.ts';
import type { HostCalls } from '../../tools/calls/host-calls.ts';
import type { ModelBudget } from '../../models/model-budget.ts';
import type { ModelGateway } from '../../models/model-gateway.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import type { Approve } from '../../tools/calls/approval.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../../contracts/errors/error-registry.ts';
import type { JobResult, ResultSkills } from '../../contracts/jobs/result.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { HostMessage, SandboxCall, SandboxMessage } from '../../protocol/messages/messages.ts';
import { createAgentRequests, type AgentRequests } from './agent-requests.ts';
import { answerCall, type CallTraffic } from './answer-call.ts';
import { assembleResult } from '../result/assemble-result.ts';
import type { EmitEvent } from '../events/event-stream.ts';
import { createByteBudget } from './byte-budget.ts';
import { createJobEnding, type JobEnding } from '../result/job-ending.ts';
import { judgeResult, valueVerdict } from '../result/judge-result.ts';
import { modelEvents } from '../events/model-events.ts';
import { createOutputEvents, type OutputEvents } from '../events/output-events.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { receiveArtifacts, type ArtifactCollector } from '../result/receive-artifacts.ts';
import { receiveOutput, type OutputCollector } from '../events/receive-output.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';
import type { SessionPort } from './session-port.ts';
import { sendJob } from './send-job.ts';
import { settleResult } from '../result/settle-result.ts';
import { createRunTrace, type RunTrace } from '../tracing/run-trace.ts';
import { NO_SPAN, type TraceSpan } from '../tracing/trace-span.ts';

/** Bytes of results that are on their way to one sandbox at once. */
const RESULT_BYTES = 32 * 1024 * 1024;

/** What a run needs besides the job and its sandbox. */
export interface RunJobOptions {
  attempt: number;
  signal: AbortSignal;
  emit: EmitEvent;
  /** The skills that the agent of a job may ask for. */
  skills: SkillsSubsystem | undefined;
  approve: Approve | undefined;
  model: ModelGateway | undefined;
  budget: ModelBudget;
  warm: boolean;
  /** About where the job runs. */
  diagnostics: Diagnostic[];
  /** The job's own. */
  span: TraceSpan;
  onToolFailure(name: string, error: unknown): void;
  /** What takes what only a session's sandbox sends. */
  session?: SessionPort | undefined;
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
  requests: AgentRequests;
  traffic: CallTraffic;
  output: OutputCollector;
  outputEvents: OutputEvents;
  artifacts: ArtifactCollector;
  trace: RunTrace;
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
    const settled = await settleResult(ended, run);
    options.session?.end(undefined);
    throwModelFailure(run);
    const result = await judgeResult(settled, job);
    run.outputEvents.flush();
    const { sandbox, startMs } = session;
    const wallMs = performance.now() - started;
    const calls = options.session ?? broker;
    const parts = {
      job,
      result,
      output,
      artifacts,
      skills: run.skills,
      broker,
      calls,
      sandbox,
      options,
      wallMs,
      startMs,
    };
    const assembled = assembleResult(parts);
    run.trace.end(assembled);
    return { result: assembled, kept: artifacts.kept };
  } catch (error) {
    options.session?.end(error as Error);
    throw error;
  } finally {
    ending.release();
    broker.close();
  }
}

function startRun(job: PreparedJob, session: SandboxSession, options: RunJobOptions): JobRun {
  const { jobId, limits, request, kind } = job;
  const { emit } = options;
  const ending = createJobEnding(job, session, options.signal);
  const requests = createAgentRequests(job);
  const trace = createRunTrace(options.session === undefined ? options.span : NO_SPAN, kind);
  const broker = createBroker({
    jobId,
    tools: job.tools,
    context: request.context,
    model: kind === 'codegen' ? options.model : undefined,
    modelName: request.kind === 'codegen' ? request.model : undefined,
    modelCalls: modelCallsOf(job),
    budget: options.budget,
    toolCalls: request.budget?.toolCalls,
    onModelRequest: modelEvents(jobId, 'codegen', emit),
    host: kind === 'codegen' ? hostCalls(job, requests, () => effectsOf(broker)) : undefined,
    limits,
    repeats: kind === 'codegen',
    approve: options.approve,
    onApproval: ({ phase, request: { call, tool }, reason }) =>
      void emit({ type: 'approval', jobId, call, tool, phase, ...(reason === undefined ? {} : { reason }) }),
    onWaiting(waiting) {
      ending.setClock(!waiting);
      session.channel.send({ type: 'clock', running: !waiting } satisfies HostMessage);
    },
    onToolFailure: options.onToolFailure,
    onAnswered: (call) => void emit({ type: 'call', jobId, call: { ...call } }),
    aroundCall: trace.aroundCall,
    aroundModel: trace.aroundModel,
  });
  const outputEvents = createOutputEvents(jobId, emit);
  const output = receiveOutput(
    limits.keptOutputBytes,
    (stream, bytes) => outputEvents.write(stream, bytes),
    () => trace.outputEnded(),
  );
  const artifacts = receiveArtifacts(limits, request.output, (artifact) => emit({ type: 'artifact', jobId, artifact }));
  const { channel } = session;
  const traffic = { channel, broker, results: createByteBudget(RESULT_BYTES), arriving: { bytes: 0 } };
  const run: JobRun = {
    job,
    requests,
    session,
    options,
    ending,
    broker,
    traffic,
    output,
    outputEvents,
    artifacts,
    trace,
    skills: undefined,
  };
  options.session?.begin({ job, sandbox: session, ending, traffic, span: options.span });
  session.attach({
    message: (message) => takeMessage(run, message),
    call: (call) => void options.withSkills(() => options.session?.call(call, ending.signal) ?? answer(run, call)),
    closed: (error) => ending.settle({ kind: 'closed', error }),
  });
  return run;
}

/** The agent asks once a run has failed: what that left open is withdrawn, so that nothing has an effect after it was told. */
function effectsOf(broker: Broker): string[] {
  broker.endAttempt();
  return broker.effects();
}

/** What the agent may ask us. */
function hostCalls({ valueSchema }: PreparedJob, requests: AgentRequests, effects: () => string[]): HostCalls {
  const calls: [string, (args: unknown) => Promise<BrokerReply & { ok: true }>][] = [
    [HOST_CALL.request, (text) => requests.serve(text)],
    [HOST_CALL.effects, async () => ({ ok: true, value: effects() })],
  ];
  if (valueSchema !== undefined) {
    calls.push([
      HOST_CALL.judge,
      async (value) => {
        const verdict = await valueVerdict(valueSchema, value);
        return { ok: true, value: 'fault' in verdict ? { fault: verdict.fault } : {} };
      },
    ]);
  }
  return new Map(calls);
}

function takeMessage(run: JobRun, message: SandboxMessage): void {
  const { job, session, options, ending } = run;
  const { jobId } = job;
  run.trace.take(message);
  switch (message.type) {
    case 'skills':
      takeSkills(run, message.skills);
      break;
    case 'run':
      if (options.session === undefined) beginRun(run, message);
      else options.session.message(message);
      break;
    case 'cell':
    case 'shown':
    case 'files':
    case 'filed':
      if (options.session === undefined) throw new Error('a message that only a session sends');
      options.session.message(message);
      break;
    case 'artifacts':
      session.channel.receive(message.stream, run.artifacts.begin());
      break;
    case 'attempt': {
      const { attempt, maxAttempts, phase } = message;
      void options.emit({ type: 'attempt', jobId, attempt, maxAttempts, phase });
      if (message.phase === 'running') void options.emit({ type: 'code', jobId, attempt, code: message.code });
      break;
    }
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

/** Each attempt asks once, and each request for more once. */
function modelCallsOf({ globals }: PreparedJob): number | undefined {
  const { codegen } = globals.JOB;
  return codegen === undefined ? undefined : codegen.maxAttempts + (codegen.requests ?? 0);
}

/** Skills that came by request join those that the job began with. */
function withMore(first: ResultSkills, { active }: ResultSkills): ResultSkills {
  return { ...first, active: [...new Set([...first.active, ...active])] };
}

/** What the sandbox renders has to be what the host renders. */
function takeSkills(run: JobRun, skills: ResultSkills): void {
  const { job, options, ending } = run;
  const { jobId, instructionSha256: ours } = job;
  const theirs = skills.instructionSha256;
  const isLater = run.skills !== undefined;
  run.skills = isLater ? withMore(run.skills as ResultSkills, skills) : skills;
  const isOurs = isLater ? run.requests.isExpected(theirs) : theirs === null || theirs === ours;
  if (!isOurs) {
    const message = `Cannot run the job: the [ACTIVE SKILLS] block in the sandbox is not the host's, got ${theirs} instead of ${ours ?? 'none'}.`;
    ending.settle({ kind: 'fault', error: new SkillcellError('skills.instruction-mismatch', message) });
  }
  void options.emit({ type: 'skills', jobId, skills });
  options.session?.message({ type: 'skills', skills });
}

function beginRun(
  { session, output, outputEvents, broker, options, job }: JobRun,
  message: SandboxMessage & { type: 'run' },
): void {
  const { channel } = session;
  const { stdout, stderr } = output.begin(message.run);
  channel.receive(message.stdout, stdout);
  channel.receive(message.stderr, stderr);
  outputEvents.flush();
  if (message.run > 1) broker.beginAttempt(message.run);
  void options.emit({ type: 'run', jobId: job.jobId, run: message.run });
}

/** Throws at once where the sandbox breaks the protocol, which ends its channel. */
function answer({ traffic, ending }: JobRun, call: SandboxCall): Promise<void> {
  const answered = answerCall(traffic, call, ending.signal);
  return answered.then(() => {
    if (traffic.broker.exhausted !== undefined) ending.cancel('calls');
  });
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
