import { createBroker, type Broker } from '../broker/broker.ts';
import type { ModelGateway } from '../broker/model-gateway.ts';
import type { ToolHandler } from '../broker/tool-handler.ts';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { JobEvent } from '../contracts/events.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../contracts/error-registry.ts';
import type { JobResult, ResultSkills } from '../contracts/result.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import {
  ARTIFACT_STREAM,
  HOST_STREAM,
  type CancelReason,
  type HostMessage,
  type SandboxMessage,
  type SandboxResult,
} from '../protocol/messages.ts';
import { writeTar } from '../protocol/tar.ts';
import { collectArtifacts, type ArtifactCollector } from './artifact-collector.ts';
import { assembleResult } from './assemble-result.ts';
import { readInputFiles } from './input-files.ts';
import { collectOutput } from './output-collector.ts';
import type { PreparedJob } from './prepare-job.ts';
import type { SandboxSession } from './sandbox-session.ts';
import { sendSkills } from './skill-archives.ts';

const MIB = 1024 * 1024;
/** How long after the end of the grace a silent sandbox may take to hand its result over. */
const HAND_OVER_MS = 3_000;

/** What a run needs besides the job and its sandbox. */
export interface RunJobOptions {
  tools: ReadonlyMap<string, ToolHandler>;
  model: ModelGateway | undefined;
  warm: boolean;
  attempt: number;
  signal: AbortSignal;
  /** Resolves when the reader of the events has room for more. */
  emit(event: JobEvent): Promise<void>;
  onToolFailure(name: string, error: unknown): void;
  /** Calls a function with the job's skills as the active ones. */
  withSkills<T>(fn: () => T): T;
}

/** How the host's side of a run ended. */
type Ending =
  | { kind: 'result'; result: SandboxResult }
  | { kind: 'fault'; error: Error }
  | { kind: 'closed'; error: Error | undefined }
  | { kind: 'overdue' };

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
  const { sandbox, channel } = session;
  const { jobId, limits } = job;
  const started = performance.now();
  const cancellation = new AbortController();
  let canceledFor: CancelReason | undefined;
  let skills: ResultSkills | undefined;
  let settle: (ending: Ending) => void = () => undefined;
  const ending = new Promise<Ending>((resolve) => (settle = resolve));

  const broker = createBroker({
    jobId,
    tools: options.tools,
    model: job.kind === 'codegen' ? options.model : undefined,
    modelName: job.request.kind === 'codegen' ? job.request.model : undefined,
    modelCalls: job.globals.JOB.codegen?.maxAttempts,
    limits,
    onToolFailure: options.onToolFailure,
    onAnswered: (call) => void options.emit({ type: 'call', jobId, call: { ...call } }),
  });
  const output = collectOutput(limits.keptOutputBytes, (stream, bytes) =>
    options.emit({ type: 'output', jobId, stream, bytes }),
  );
  const artifacts = collectArtifacts(limits, job.request.output, (artifact) =>
    options.emit({ type: 'artifact', jobId, artifact }),
  );

  const timers: NodeJS.Timeout[] = [];
  const cancel = (reason: CancelReason): void => {
    if (canceledFor !== undefined) return;
    canceledFor = reason;
    cancellation.abort(new Error(`The job is over: ${reason}.`));
    channel.send({ type: 'cancel', reason } satisfies HostMessage);
    const overdue = (): void => {
      // A sandbox that still hands its artifacts over is heard from; one that is silent has had its time.
      if (
        performance.now() - session.heardAt < HAND_OVER_MS &&
        performance.now() - started < limits.jobTimeoutMs + 30_000
      ) {
        timers.push(setTimeout(overdue, HAND_OVER_MS));
      } else settle({ kind: 'overdue' });
    };
    timers.push(setTimeout(overdue, limits.graceMs + HAND_OVER_MS));
  };
  const onAbort = (): void => cancel('canceled');
  options.signal.addEventListener('abort', onAbort, { once: true });

  const onMessage = (message: SandboxMessage): void => {
    switch (message.type) {
      case 'skills':
        skills = message.skills;
        if (skills.instructionSha256 !== null && skills.instructionSha256 !== job.instructionSha256) {
          settle({ kind: 'fault', error: instructionMismatch(job.instructionSha256, skills.instructionSha256) });
        }
        void options.emit({ type: 'skills', jobId, skills });
        break;
      case 'run':
        output.begin(message.run);
        void options.emit({ type: 'run', jobId, run: message.run });
        break;
      case 'attempt':
        void options.emit({ ...message, jobId });
        break;
      case 'call':
        void options.withSkills(() => answerCall(message, broker, cancellation.signal, session, () => cancel('calls')));
        break;
      case 'fault':
        settle({ kind: 'fault', error: faultError(message, broker) });
        break;
      case 'result':
        settle({ kind: 'result', result: message.result });
        break;
      case 'ready':
      case 'rehearsed':
        break;
    }
  };
  session.attach({
    message: onMessage,
    stream: (number) => (number === ARTIFACT_STREAM ? artifacts.reader : output.reader(number)),
    closed: (error) => settle({ kind: 'closed', error }),
  });

  try {
    timers.push(setTimeout(() => cancel('timeout'), limits.jobTimeoutMs));
    if (options.signal.aborted) onAbort();
    const sent = sendJob(job, session);
    sent.catch((error: unknown) => settle({ kind: 'fault', error: error as Error }));
    const ended = await ending;
    if (ended.kind === 'fault') throw ended.error;
    const result = await settleResult(ended, artifacts, session, canceledFor);
    if (broker.modelFailure !== undefined && broker.modelFailure.name !== 'ModelTimeout' && canceledFor === undefined) {
      throw broker.modelFailure;
    }
    const wallMs = performance.now() - started;
    return {
      result: assembleResult({
        job,
        result,
        output,
        artifacts,
        skills,
        broker,
        sandbox,
        options,
        wallMs,
        startMs: session.startMs,
      }),
      kept: artifacts.kept,
    };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
    broker.close();
  }
}

/** The sandbox's result once its artifacts are whole; what we know ourselves where it gave none. */
async function settleResult(
  ended: Exclude<Ending, { kind: 'fault' }>,
  artifacts: ArtifactCollector,
  session: SandboxSession,
  canceledFor: CancelReason | undefined,
): Promise<SandboxResult> {
  if (ended.kind === 'result') {
    try {
      await artifacts.done();
    } catch (cause) {
      if (SkillcellError.isInstance(cause)) throw cause;
      throw new SkillcellError('channel.protocol', 'Cannot take the artifacts: the archive is not acceptable.', {
        cause,
      });
    }
    return ended.result;
  }
  if (ended.kind === 'closed') {
    const exit = await session.sandbox.exited;
    const oomKills = session.sandbox.usage().oomKills ?? 0;
    if (exit.oom === true || oomKills > 0) return resultWithout('out_of_memory');
    if (canceledFor === undefined) throw lost(session, ended.error);
  }
  // A silent sandbox may be one whose engine is gone: that is no timeout of the program. Ending it tells.
  if (ended.kind === 'overdue' && canceledFor !== 'canceled') await session.sandbox.kill('it is overdue');
  return resultWithout(canceledFor === 'timeout' ? 'timeout' : canceledFor === 'calls' ? 'limit' : 'canceled');
}

function resultWithout(outcome: SandboxResult['outcome']): SandboxResult {
  const message = 'The sandbox was ended before it could report; what it wrote until then is kept.';
  const diagnostics: Diagnostic[] = [{ code: 'sandbox.ended', severity: 'warning', message }];
  return {
    outcome,
    ...(outcome === 'limit' ? { limit: 'calls' as const } : {}),
    exitCode: null,
    signal: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    ...(outcome === 'timeout' ? { error: { name: 'JobTimeout', message: 'The job took too long.', stack: '' } } : {}),
    omitted: [],
    missing: [],
    sources: [],
    diagnostics,
    runMs: 0,
  };
}

async function sendJob(job: PreparedJob, { channel }: SandboxSession): Promise<void> {
  const { trees, files, stdin } = job;
  const start: HostMessage = {
    type: 'start',
    skills: trees.size > 0,
    files: files.length > 0,
    stdin: stdin !== undefined,
  };
  const globals = channel.openStream(HOST_STREAM.globals);
  channel.send(start);
  await globals.write(Buffer.from(JSON.stringify(job.globals)));
  globals.end();
  if (trees.size > 0) await sendSkills(trees, channel.openStream(HOST_STREAM.skills));
  if (files.length > 0) {
    await writeTar(readInputFiles(files, job.limits.workspaceMib * MIB), channel.openStream(HOST_STREAM.files));
  }
  if (stdin !== undefined) {
    const writer = channel.openStream(HOST_STREAM.stdin);
    await writer.write(stdin);
    writer.end();
  }
}

async function answerCall(
  call: SandboxMessage & { type: 'call' },
  broker: Broker,
  signal: AbortSignal,
  { channel }: SandboxSession,
  onExhausted: () => void,
): Promise<void> {
  const { id, target, name, args } = call;
  const reply = await broker.call({ id, target, name, args }, { signal });
  channel.send({ type: 'reply', id, ...reply } satisfies HostMessage);
  if (broker.exhausted) onExhausted();
}

function faultError(message: SandboxMessage & { type: 'fault' }, broker: Broker): Error {
  if (broker.modelFailure !== undefined) return broker.modelFailure;
  const code = Object.hasOwn(ERROR_REGISTRY, message.code) ? (message.code as ErrorCode) : 'internal.fault';
  return new SkillcellError(code, message.message, { diagnostics: message.diagnostics });
}

function instructionMismatch(ours: string | null, theirs: string): SkillcellError {
  const message = `Cannot run the job: the [ACTIVE SKILLS] block in the sandbox is not the host's, got ${theirs} instead of ${ours ?? 'none'}.`;
  return new SkillcellError('skills.instruction-mismatch', message);
}

function lost(session: SandboxSession, error: Error | undefined): SkillcellError {
  // A connection that broke was broken by what lies between, not by what the sandbox sent.
  if (error !== undefined && (error as NodeJS.ErrnoException).syscall === undefined) {
    return new SkillcellError('channel.protocol', `Cannot go on with the job: the sandbox sent ${error.message}`, {
      cause: error,
    });
  }
  const said = session.sandbox.complaint().trim();
  return new SkillcellError(
    'sandbox.lost',
    `Cannot finish the job: the sandbox ended without a result${said === '' ? '' : ` (${said.slice(-500)})`}.`,
    { cause: error },
  );
}
