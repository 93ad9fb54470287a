import { createBroker, type Broker } from '../../broker/broker.ts';
import type { JobEvent } from '../../contracts/events.ts';
import { RESULT_BYTES, type SessionResult, type SessionRun } from '../../contracts/session.ts';
import type { HostMessage, SandboxCall, SandboxMessage } from '../../protocol/messages.ts';
import type { CellResult } from '../../protocol/session-messages.ts';
import { answerCall } from '../answer-call.ts';
import type { JobHost } from '../job-host.ts';
import { createOutputEvents } from '../output-events.ts';
import { receiveOutput } from '../receive-output.ts';
import type { OrchestratorSettings } from '../orchestrator-settings.ts';
import { traceCalls } from '../tracing/trace-calls.ts';
import { collectBytes } from './collect-bytes.ts';
import { announcedBytes, readResults } from './read-results.ts';
import type { SessionGround } from './session-port.ts';

/** How long after a run's clock and grace its sandbox may take to say what came of it. */
const HAND_OVER_MS = 10_000;

/** One run as the host asks for it. */
export interface RunOrder {
  run: number;
  /** The one that it begins in. */
  epoch: number;
  language: string;
  code: string;
  timeoutMs: number;
  emit(event: JobEvent): Promise<void>;
}

/** The host's side of one run. */
export interface HostRun {
  readonly run: number;
  /** What came of it. Rejects when we failed. */
  readonly result: Promise<SessionRun>;
  interrupt(): void;
  begin(message: SandboxMessage & { type: 'run' }): void;
  settle(cell: CellResult): void;
  call(call: SandboxCall, signal: AbortSignal): Promise<void>;
  /** The sandbox is over. */
  lose(fault: Error | undefined): void;
  readonly broker: Broker;
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
  const streamEnded = (): void => {
    streams -= 1;
    finish();
  };
  const output = receiveOutput(limits.keptOutputBytes, (stream, bytes) => events.write(stream, bytes), streamEnded);
  const events = createOutputEvents(jobId, emit);
  const clock = startClock(timeoutMs + limits.graceMs + HAND_OVER_MS, () => ending.cancel('timeout'));
  // The one who opened the session may be long gone; the id says of which session it is.
  const span = tracing.begin('run', { 'skillcell.job.id': jobId, 'skillcell.run.number': run }, jobSpan);
  const broker = createRunBroker({ ...ground, span }, order, settings, (waiting) => {
    clock.set(!waiting);
    ending.setClock(!waiting);
    channel.send({ type: 'clock', running: !waiting } satisfies HostMessage);
  });
  const started = performance.now();
  let stopped = false;
  let streams = 2;
  let cell: CellResult | undefined;
  let results: SessionResult[] | undefined;

  const interrupt = (reason: 'canceled' | 'calls'): void => {
    if (stopped) return;
    stopped = true;
    channel.send({ type: 'interrupt', run, reason } satisfies HostMessage);
  };
  const endSpan = (error: string | undefined): void => span.end({ error });
  const finish = (): void => {
    if (cell === undefined || results === undefined || streams > 0) return;
    clock.stop();
    endSpan(cell.outcome === 'succeeded' ? undefined : cell.outcome);
    broker.close();
    events.flush();
    done.resolve(resultOf(cell, results));
  };
  const resultOf = (ended: CellResult, shown: SessionResult[]): SessionRun => {
    const { epoch, state, limit, exitCode, signal, error, stdoutBytes, stderrBytes, diagnostics, runMs } = ended;
    const overCalls = ended.outcome === 'limit' && limit === 'calls' && broker.exhausted !== undefined;
    return {
      run,
      epoch,
      state,
      outcome: ended.outcome,
      ...(limit === undefined ? {} : { limit }),
      exitCode,
      signal,
      ...('value' in ended ? { value: ended.value } : {}),
      results: shown,
      stdout: output.text('stdout', stdoutBytes),
      stderr: output.text('stderr', stderrBytes),
      ...(overCalls
        ? { error: { name: 'BudgetReached', message: broker.exhausted ?? '', stack: '' } }
        : error === undefined
          ? {}
          : { error }),
      calls: broker.rows,
      diagnostics,
      wallMs: Math.round(runMs * 1000) / 1000,
    };
  };

  channel.send({ type: 'cell', run, language: order.language, code: order.code, timeoutMs } satisfies HostMessage);
  return {
    run,
    result: done.promise,
    broker,
    interrupt: () => interrupt('canceled'),
    begin({ stdout, stderr }) {
      const readers = output.begin(1);
      channel.receive(stdout, readers.stdout);
      channel.receive(stderr, readers.stderr);
      void emit({ type: 'run', jobId, run });
    },
    settle(ended) {
      if (cell !== undefined) throw new Error('a run that ended twice');
      cell = ended;
      if (ended.results === undefined) results = [];
      else {
        const { forms, stream } = ended.results;
        const announced = announcedBytes(forms);
        if (announced > RESULT_BYTES) throw new Error('results that are more than a run may show');
        channel.receive(
          stream,
          collectBytes(announced, (bytes) => {
            if (bytes.length !== announced) throw new Error('results that are not what was announced');
            results = readResults(forms, bytes);
            finish();
          }),
        );
      }
      finish();
    },
    async call(call, signal) {
      await answerCall({ ...traffic, broker }, call, signal);
      if (broker.exhausted !== undefined) interrupt('calls');
    },
    lose(fault) {
      clock.stop();
      endSpan(fault === undefined ? 'canceled' : 'sandbox.lost');
      broker.close();
      events.flush();
      if (fault !== undefined) return done.reject(fault);
      done.resolve({
        ...resultOf(lostCell(order, ending.canceledFor === 'timeout' ? 'timeout' : 'canceled'), results ?? []),
        wallMs: Math.round(performance.now() - started),
      });
    },
  };
}

function createRunBroker(
  { job, span }: SessionGround,
  { emit, run }: RunOrder,
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

/** A clock that can stand still. */
function startClock(limitMs: number, onEnd: () => void): { set(running: boolean): void; stop(): void } {
  let left = limitMs;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onEnd, left);
  return {
    set(running) {
      clearTimeout(timer);
      if (!running) left -= performance.now() - since;
      else {
        since = performance.now();
        timer = setTimeout(onEnd, left);
      }
    },
    stop: () => clearTimeout(timer),
  };
}
