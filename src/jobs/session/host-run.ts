import type { Broker } from '../../tools/calls/broker.ts';
import type { AdmitCall } from '../../tools/calls/count-tool-calls.ts';
import type { JobEvent } from '../../contracts/jobs/events.ts';
import type { ResultNetwork } from '../../contracts/network/result-network.ts';
import type { CallRow, CallTotal } from '../../contracts/jobs/result.ts';
import { MOST_RESULTS, RESULT_BYTES, type SessionResult, type SessionRun } from '../../contracts/jobs/session.ts';
import type { HostMessage, SandboxCall, SandboxMessage } from '../../protocol/messages/messages.ts';
import { startClock } from '../../protocol/pausable-clock.ts';
import type { CellResult, InterruptReason, ResultForm } from '../../protocol/messages/session-messages.ts';
import { createRunBroker } from '../run/run-broker.ts';
import type { RunGround } from '../run/run-ground.ts';
import { type EndedRun, runResult, unreportedRun } from '../result/job-result.ts';
import type { Tracing } from '../tracing/create-tracing.ts';
import { answerCall } from '../run/answer-call.ts';
import { type OutputCollector, receiveOutput } from '../events/receive-output.ts';
import { traceCalls } from '../tracing/trace-calls.ts';
import { collectBytes } from './collect-bytes.ts';

const TEXT = /^text\/|^application\/(?:json|javascript|xml|geo\+json|[\w.-]+\+(?:json|xml))$|\+xml$/i;

/** Time for the sandbox to report a run, after the run's clock and grace. */
const HAND_OVER_MS = 10_000;

/** One run of a session, as the host orders it. */
export interface RunOrder {
  run: number;
  /** Epoch in which the run begins. */
  epoch: number;
  language: string;
  code: string;
  env: Record<string, string> | undefined;
  timeoutMs: number;
  /** Enforces the call limit of each tool over all runs of the session. */
  admit: AdmitCall;
  emit(event: JobEvent): Promise<void>;
}

/** Host-side state of one run. */
export interface HostRun {
  readonly run: number;
  /** Result of the run. Rejects when we failed. */
  readonly result: Promise<SessionRun>;
  interrupt(): void;
  /** The code writes its first output, which comes on two streams. Code without output has no streams. */
  begin(message: SandboxMessage & { type: 'run' }): void;
  /** The code shows a result; its bytes come on a stream. */
  show(message: SandboxMessage & { type: 'shown' }): void;
  settle(cell: CellResult): void;
  call(call: SandboxCall, signal: AbortSignal): Promise<void>;
  /** The sandbox has ended. */
  lose(fault: Error | undefined): void;
  /** Calls of the code; undefined before the first. */
  readonly calls: { rows: CallRow[]; totals: Record<string, CallTotal> } | undefined;
}

/** Sends a run to its sandbox. Its span is a child of the caller's active span. */
export function startRun(ground: RunGround, order: RunOrder, tracing: Tracing): HostRun {
  const { job, sandbox, ending, traffic, span: jobSpan } = ground;
  const { channel } = sandbox;
  const { jobId, limits } = job;
  const { run, epoch, emit, admit, timeoutMs } = order;
  const done = Promise.withResolvers<SessionRun>();
  done.promise.catch(() => undefined);
  const clock = startClock(timeoutMs + limits.graceMs + HAND_OVER_MS, () => ending.cancel('timeout'));
  // The span that opened the session may have ended long ago: the id links the two.
  const span = tracing.begin('run', { 'skillcell.job.id': jobId, 'skillcell.run.number': run }, jobSpan);
  const started = performance.now();
  let stopped = false;
  // Created at the first call and the first output, so that a short run stays cheap.
  let broker: Broker | undefined;
  let output: OutputCollector | undefined;
  let openStreams = 0;
  let cell: CellResult | undefined;
  const counted = ground.network?.count();
  const results: SessionResult[] = [];
  let shown = 0;
  let announced = 0;

  const interrupt = (reason: InterruptReason): void => {
    if (stopped) return;
    stopped = true;
    channel.send({ type: 'interrupt', run, reason } satisfies HostMessage);
  };
  const close = (error: string | undefined): void => {
    span.end({ error });
    clock.stop();
    broker?.close();
    output?.flush();
  };
  const gathered = (): Omit<EndedRun, 'cell'> => ({
    results,
    output: (stream, bytes) => output?.text(stream, bytes) ?? { text: '', bytes, truncated: bytes > 0 },
    calls: broker?.rows ?? [],
    exhausted: broker?.exhausted,
  });
  const finish = (): void => {
    if (cell === undefined || openStreams > 0) return;
    const ended = cell;
    close(ended.outcome === 'succeeded' ? undefined : ended.outcome);
    const settle = (network?: ResultNetwork): void => done.resolve(runResult({ cell: ended, network, ...gathered() }));
    if (counted === undefined) settle();
    else void counted().then(settle);
  };
  const endStream = (): void => {
    openStreams -= 1;
    finish();
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
    begin(message) {
      if (output !== undefined || cell !== undefined) throw new Error('a run that begins to write twice, or too late');
      output = receiveOutput({ jobId, emit, keptBytes: limits.keptOutputBytes, onEnd: endStream });
      openStreams += 2;
      output.begin(channel, { ...message, run: 1 });
    },
    show({ forms, stream }) {
      if (cell !== undefined) throw new Error('a run that shows something too late');
      const bytes = announcedBytes(forms);
      announced += bytes;
      shown += 1;
      if (shown > MOST_RESULTS || announced > RESULT_BYTES)
        throw new Error('results that are more than a run may show');
      openStreams += 1;
      const take = (whole: Buffer): void => {
        if (whole.length !== bytes) throw new Error('a result of another size than was announced');
        const result = readResult(forms, whole);
        results.push(result);
        void emit({ type: 'result', jobId, run, result });
        endStream();
      };
      channel.receive(stream, collectBytes(bytes, take));
    },
    settle(ended) {
      if (cell !== undefined) throw new Error('a run that ended twice');
      cell = ended;
      finish();
    },
    call(call, signal) {
      const aroundCall = traceCalls(() => span);
      const asked = (broker ??= createRunBroker(ground, { emit, run, admit, aroundCall, onClock: clock.set }));
      return answerCall({ ...traffic, broker: asked }, call, signal).then(() => {
        if (asked.exhausted !== undefined) interrupt('calls');
      });
    },
    lose(fault) {
      close(fault === undefined ? 'canceled' : 'sandbox.lost');
      if (fault !== undefined) return done.reject(fault);
      const outcome = ending.canceledFor === 'timeout' ? 'timeout' : 'canceled';
      const wallMs = Math.round(performance.now() - started);
      done.resolve(unreportedRun({ run, epoch, state: 'lost' }, outcome, { ...gathered(), wallMs }));
    },
  };
}

/** Builds a result of a run from its forms and their joined bytes: text forms as strings, other forms as bytes. */
function readResult(forms: readonly ResultForm[], bytes: Buffer): SessionResult {
  let offset = 0;
  const data = forms.map(({ mediaType, bytes: size }): [string, string | Uint8Array] => {
    const part = bytes.subarray(offset, offset + size);
    offset += size;
    return [mediaType, TEXT.test(mediaType) ? part.toString('utf8') : new Uint8Array(part)];
  });
  return withJson({ data: Object.fromEntries(data) });
}

/** Bytes become base64 in JSON, as in notebooks. */
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

/** Sum of the announced bytes of all forms. */
function announcedBytes(forms: readonly ResultForm[]): number {
  return forms.reduce((sum, { bytes }) => sum + bytes, 0);
}
