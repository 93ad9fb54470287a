import type { AroundCall } from '../../tools/calls/broker.ts';
import type { AroundModel } from '../../models/ask-model.ts';
import type { JobKind, JobResult } from '../../contracts/jobs/result.ts';
import type { SandboxMessage } from '../../protocol/messages/messages.ts';
import { traceCalls } from './trace-calls.ts';
import { traceModels } from './trace-models.ts';
import { NO_SPAN, type TraceSpan } from './trace-span.ts';

/** Streams of the output of one run. */
const STREAMS = 2;

/** The spans of a job in its sandbox, derived from the messages of the sandbox. */
export interface RunTrace {
  readonly aroundCall: AroundCall;
  readonly aroundModel: AroundModel;
  take(message: SandboxMessage): void;
  /** One of the streams of a run has ended. */
  outputEnded(): void;
  /** The job has its result. Without a result, open spans end with the job's span. */
  end(result: JobResult): void;
}

/** A span whose work may be over before its outcome is known. */
interface Stage {
  span: TraceSpan;
  overAt?: number;
}

/**
 * Follows a job in its sandbox. Only codegen announces its attempts; every other job is one attempt. The outcome of a run or an attempt is
 * known only from a later message. The span ends then, with the earlier time at which the work was over.
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
  /** Parent of a call or a model request that is made now. */
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
