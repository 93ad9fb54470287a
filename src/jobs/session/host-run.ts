import { type Broker, createBroker } from '../../tools/calls/broker.ts';
import type { AdmitCall } from '../../tools/calls/count-tool-calls.ts';
import type { JobEvent } from '../../contracts/jobs/events.ts';
import type { CallRow, CallTotal, OutputText } from '../../contracts/jobs/result.ts';
import { MOST_RESULTS, RESULT_BYTES, type SessionResult, type SessionRun } from '../../contracts/jobs/session.ts';
import type { HostMessage, SandboxCall, SandboxMessage } from '../../protocol/messages/messages.ts';
import type { CellResult, ResultForm } from '../../protocol/messages/session-messages.ts';
import { answerCall } from '../run/answer-call.ts';
import type { JobHost } from '../run/job-host.ts';
import { createOutputEvents, type OutputEvents } from '../events/output-events.ts';
import { type OutputCollector, receiveOutput } from '../events/receive-output.ts';
import type { OrchestratorSettings } from '../request/orchestrator-settings.ts';
import { traceCalls } from '../tracing/trace-calls.ts';
import { collectBytes } from './collect-bytes.ts';
import type { SessionGround } from '../run/session-port.ts';

const TEXT = /^text\/|^application\/(?:json|javascript|xml|geo\+json|[\w.-]+\+(?:json|xml))$|\+xml$/i;

/** How long after a run's clock and grace its sandbox may take to say what came of it. */
const HAND_OVER_MS = 10_000;

/** One run as the host asks for it. */
export interface RunOrder {
  run: number;
  /** The one that it begins in. */
  epoch: number;
  language: string;
  code: string;
  env: Record<string, string> | undefined;
  timeoutMs: number;
  /** Holds each tool to its calls in all runs of the session. */
  admit: AdmitCall;
  emit(event: JobEvent): Promise<void>;
}

/** The host's side of one run. */
export interface HostRun {
  readonly run: number;
  /** What came of it. Rejects when we failed. */
  readonly result: Promise<SessionRun>;
  interrupt(): void;
  /** The code has written something, which comes on two streams. What writes nothing has none. */
  begin(message: SandboxMessage & { type: 'run' }): void;
  /** The code shows something, whose bytes come on a stream. */
  show(message: SandboxMessage & { type: 'shown' }): void;
  settle(cell: CellResult): void;
  call(call: SandboxCall, signal: AbortSignal): Promise<void>;
  /** The sandbox is over. */
  lose(fault: Error | undefined): void;
  /** What the code has called; undefined where that is nothing. */
  readonly calls: { rows: CallRow[]; totals: Record<string, CallTotal> } | undefined;
}

/** Sends a run to its sandbox, and takes what comes of it. Its span stands below what is active where this is called, which is the run's caller. */
export function startRun(
  ground: SessionGround,
  order: RunOrder,
  { settings, tracing }: Pick<JobHost, 'settings' | 'tracing'>,
): HostRun {
  const { job, sandbox, ending, traffic, span: jobSpan } = ground;
  const { channel } = sandbox;
  const { jobId, limits } = job;
  const { run, emit, timeoutMs } = order;
  const done = Promise.withResolvers<SessionRun>();
  done.promise.catch(() => undefined);
  const clock = startClock(timeoutMs + limits.graceMs + HAND_OVER_MS, () => ending.cancel('timeout'));
  // The one who opened the session may be long gone; the id says of which session it is.
  const span = tracing.begin('run', { 'skillcell.job.id': jobId, 'skillcell.run.number': run }, jobSpan);
  const onWaiting = (waiting: boolean): void => {
    clock.set(!waiting);
    ending.setClock(!waiting);
    channel.send({ type: 'clock', running: !waiting } satisfies HostMessage);
  };
  const started = performance.now();
  let stopped = false;
  /** A short run costs little more than its way here and back: these are made where it calls and writes. */
  let broker: Broker | undefined;
  let output: { text: OutputCollector['text']; events: OutputEvents } | undefined;
  /** Streams that have not ended. */
  let streams = 0;
  let cell: CellResult | undefined;
  const results: SessionResult[] = [];
  let shown = 0;
  let announced = 0;

  const interrupt = (reason: 'canceled' | 'calls'): void => {
    if (stopped) return;
    stopped = true;
    channel.send({ type: 'interrupt', run, reason } satisfies HostMessage);
  };
  const close = (): void => {
    clock.stop();
    broker?.close();
    output?.events.flush();
  };
  const endSpan = (error: string | undefined): void => span.end({ error });
  const finish = (): void => {
    if (cell === undefined || streams > 0) return;
    endSpan(cell.outcome === 'succeeded' ? undefined : cell.outcome);
    close();
    done.resolve(resultOf(cell));
  };
  const textOf = (stream: 'stdout' | 'stderr', bytes: number): OutputText =>
    output?.text(stream, bytes) ?? { text: '', bytes, truncated: bytes > 0 };
  const resultOf = (ended: CellResult): SessionRun => {
    const { epoch, state, limit, exitCode, signal, error, stdoutBytes, stderrBytes, diagnostics, runMs } = ended;
    const overCalls = ended.outcome === 'limit' && limit === 'calls' && broker?.exhausted !== undefined;
    return {
      run,
      epoch,
      state,
      outcome: ended.outcome,
      ...(limit === undefined ? {} : { limit }),
      exitCode,
      signal,
      ...('value' in ended ? { value: ended.value } : {}),
      results,
      stdout: textOf('stdout', stdoutBytes),
      stderr: textOf('stderr', stderrBytes),
      ...(overCalls
        ? { error: { name: 'BudgetReached', message: broker?.exhausted ?? '', stack: '' } }
        : error === undefined
          ? {}
          : { error }),
      calls: broker?.rows ?? [],
      diagnostics,
      wallMs: Math.round(runMs * 1000) / 1000,
    };
  };

  const { language, code, env } = order;
  const given = env === undefined ? {} : { env };
  channel.send({ type: 'cell', run, language, code, ...given, timeoutMs } satisfies HostMessage);
  void emit({ type: 'run', jobId, run });
  return {
    run,
    result: done.promise,
    get calls() {
      return broker;
    },
    interrupt: () => interrupt('canceled'),
    begin({ stdout, stderr }) {
      if (output !== undefined || cell !== undefined) throw new Error('a run that begins to write twice, or too late');
      const events = createOutputEvents(jobId, emit);
      const collector = receiveOutput(
        limits.keptOutputBytes,
        (stream, bytes) => events.write(stream, bytes),
        () => {
          streams -= 1;
          finish();
        },
      );
      output = { text: (stream, bytes) => collector.text(stream, bytes), events };
      const readers = collector.begin(1);
      streams += 2;
      channel.receive(stdout, readers.stdout);
      channel.receive(stderr, readers.stderr);
    },
    show({ forms, stream }) {
      if (cell !== undefined) throw new Error('a run that shows something too late');
      const bytes = announcedBytes(forms);
      announced += bytes;
      shown += 1;
      if (shown > MOST_RESULTS || announced > RESULT_BYTES)
        throw new Error('results that are more than a run may show');
      streams += 1;
      const take = (whole: Buffer): void => {
        if (whole.length !== bytes) throw new Error('a result that is not what was announced');
        const result = readResult(forms, whole);
        results.push(result);
        void emit({ type: 'result', jobId, run, result });
        streams -= 1;
        finish();
      };
      channel.receive(stream, collectBytes(bytes, take));
    },
    settle(ended) {
      if (cell !== undefined) throw new Error('a run that ended twice');
      cell = ended;
      finish();
    },
    // What breaks the protocol is thrown at once, to whoever reads the channel.
    call(call, signal) {
      const asked = (broker ??= createRunBroker({ ...ground, span }, order, settings, onWaiting));
      return answerCall({ ...traffic, broker: asked }, call, signal).then(() => {
        if (asked.exhausted !== undefined) interrupt('calls');
      });
    },
    lose(fault) {
      endSpan(fault === undefined ? 'canceled' : 'sandbox.lost');
      close();
      if (fault !== undefined) return done.reject(fault);
      done.resolve({
        ...resultOf(lostCell(order, ending.canceledFor === 'timeout' ? 'timeout' : 'canceled')),
        wallMs: Math.round(performance.now() - started),
      });
    },
  };
}

function createRunBroker(
  { job, span }: SessionGround,
  { emit, run, admit }: RunOrder,
  { approve, logger }: OrchestratorSettings,
  onWaiting: (waiting: boolean) => void,
): Broker {
  const { jobId, limits, request, tools } = job;
  return createBroker({
    jobId,
    tools,
    context: request.context,
    limits,
    approve,
    admit,
    aroundCall: traceCalls(() => span),
    onWaiting,
    onApproval: ({ phase, request: { call, tool }, reason }) =>
      void emit({ type: 'approval', jobId, call, tool, phase, ...(reason === undefined ? {} : { reason }) }),
    onToolFailure: (name, error) => logger?.error({ jobId, run, tool: name, err: error }, 'a tool failed'),
    onAnswered: (call) => void emit({ type: 'call', jobId, call: { ...call } }),
  });
}

/** A run whose sandbox was ended before it could say what came of it. */
function lostCell({ run, epoch }: RunOrder, outcome: 'canceled' | 'timeout'): CellResult {
  return {
    run,
    epoch,
    state: 'lost',
    outcome,
    exitCode: null,
    signal: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    diagnostics: [],
    runMs: 0,
  };
}

/** A run that was given up before its turn. */
export function unbegunRun(run: number, epoch: number): SessionRun {
  return {
    run,
    epoch,
    state: 'kept',
    outcome: 'canceled',
    exitCode: null,
    signal: null,
    results: [],
    stdout: { text: '', bytes: 0, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
    calls: [],
    diagnostics: [],
    wallMs: 0,
  };
}

/** A clock that can stand still. Once it is stopped nothing sets it again: an approval that was open then is withdrawn a moment later. */
function startClock(limitMs: number, onEnd: () => void): { set(running: boolean): void; stop(): void } {
  let left = limitMs;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onEnd, left);
  let stopped = false;
  return {
    set(running) {
      if (stopped) return;
      clearTimeout(timer);
      if (!running) left -= performance.now() - since;
      else {
        since = performance.now();
        timer = setTimeout(onEnd, left);
      }
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** A result of a run from its forms and the bytes of all: texts as texts, other forms as bytes. */
function readResult(forms: readonly ResultForm[], bytes: Buffer): SessionResult {
  let offset = 0;
  const data = forms.map(({ mediaType, bytes: size }): [string, string | Uint8Array] => {
    const part = bytes.subarray(offset, offset + size);
    offset += size;
    return [mediaType, TEXT.test(mediaType) ? part.toString('utf8') : new Uint8Array(part)];
  });
  return withJson({ data: Object.fromEntries(data) });
}

/** In JSON the bytes are base64, as in notebooks. */
function withJson(result: SessionResult): SessionResult {
  const toJSON = (): object => {
    const forms = Object.entries(result.data).map(([mediaType, form]) => [
      mediaType,
      typeof form === 'string' ? form : Buffer.from(form).toString('base64'),
    ]);
    return { data: Object.fromEntries(forms) };
  };
  return Object.defineProperty(result, 'toJSON', { value: toJSON });
}

/** Bytes that the forms announce, all together. */
function announcedBytes(forms: readonly ResultForm[]): number {
  return forms.reduce((sum, { bytes }) => sum + bytes, 0);
}
