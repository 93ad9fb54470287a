import type { AroundCall } from '../../tools/calls/broker.ts';
import type { AroundModel } from '../../models/ask-model.ts';
import type { JobKind, JobResult } from '../../contracts/jobs/result.ts';
import type { SandboxMessage } from '../../protocol/messages/messages.ts';
import { traceCalls } from './trace-calls.ts';
import { traceModels } from './trace-models.ts';
import { NO_SPAN, type TraceSpan } from './trace-span.ts';

/** Streams of the output of one run. */
const STREAMS = 2;

/** The spans of a job in its sandbox, as what the sandbox sends tells of them. */
export interface RunTrace {
  readonly aroundCall: AroundCall;
  readonly aroundModel: AroundModel;
  take(message: SandboxMessage): void;
  /** One of the streams of a run has ended. */
  outputEnded(): void;
  /** The job has its result. What is open of a job that has none ends with the job's span. */
  end(result: JobResult): void;
}

/** A span that may be over before it is known how. */
interface Stage {
  span: TraceSpan;
  overAt?: number;
}

/**
 * Follows a job in its sandbox. Only codegen says when it begins an attempt; what else runs is one attempt. How a run or an attempt came
 * out is told by what follows it, and so each ends then, as of the time when it was over.
 */
export function createRunTrace(job: TraceSpan, kind: JobKind): RunTrace {
  let attempt: (Stage & { number: number }) | undefined;
  let run: Stage | undefined;
  let collect: TraceSpan | undefined;
  let openStreams = 0;

  const beginAttempt = (number: number): void => {
    attempt = { span: job.begin('attempt', { 'skillcell.attempt.number': number }), number };
  };
  const endStages = (error: string | undefined): void => {
    run?.span.end({ error, at: run.overAt });
    attempt?.span.end({ error, at: attempt.overAt });
    run = attempt = undefined;
  };
  const beginCollect = (): void => {
    if (collect !== undefined) return;
    if (attempt !== undefined) attempt.overAt = performance.now();
    collect = job.begin('collect');
  };
  /** Below which what is asked for now belongs. */
  const current = (): TraceSpan => (run?.overAt === undefined ? run?.span : undefined) ?? attempt?.span ?? job;

  if (job !== NO_SPAN && kind !== 'codegen') beginAttempt(1);
  return {
    aroundCall: traceCalls(current),
    aroundModel: traceModels(current, 'codegen'),
    take(message) {
      if (job === NO_SPAN) return;
      if (message.type === 'attempt' && message.attempt !== attempt?.number) {
        endStages('failed');
        beginAttempt(message.attempt);
      } else if (message.type === 'run') {
        const attributes = { 'skillcell.run.number': message.run };
        run = { span: (attempt?.span ?? job).begin('run', attributes) };
        openStreams = STREAMS;
      } else if (message.type === 'artifacts' || message.type === 'result') beginCollect();
    },
    outputEnded() {
      openStreams -= 1;
      if (openStreams > 0 || run === undefined) return;
      run.overAt = performance.now();
      if (kind !== 'codegen') beginCollect();
    },
    end({ outcome, artifacts, omitted }) {
      const error = outcome === 'succeeded' ? undefined : outcome;
      collect?.end({
        attributes: { 'skillcell.artifact.count': artifacts.length, 'skillcell.artifact.omitted': omitted.length },
      });
      endStages(error);
    },
  };
}
