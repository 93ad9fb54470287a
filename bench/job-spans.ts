import { z } from 'zod';
import { defineTool } from '../src/tools/define/tool.ts';
import type { ExecOptions } from '../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createTracing } from '../src/jobs/tracing/create-tracing.ts';
import { inSpan } from '../src/jobs/tracing/in-span.ts';
import { createRunTrace } from '../src/jobs/tracing/run-trace.ts';
import type { JobResult } from '../src/contracts/jobs/result.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { execSubject } from './exec-subject.ts';
import { measurementOf, type Measurement, type Taken } from './measurement.ts';
import { createSpanRecorder, type SpanRecorder } from './recorded-spans.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 60;
const SDK = 'otel.sdk';
const CALLS_SDK = 'otel.sdk.calls';
const NONE = 'otel.none';
const EXEC = 'exec';
const CALLS = 'calls';
const REPEATS = 1_000;

const LINE: ExecOptions = { code: 'console.log(6 * 7)' };
/** A program that calls a tool two hundred times, one after the other. */
const CALLING: ExecOptions = {
  code: "import { tools } from 'skillcell';\nfor (let n = 0; n < 200; n += 1) await tools.x.echo({ n });\nconsole.log(42);",
  tools: ['x.echo'],
};

/** The overhead of tracing for a warm job at level namespace: with a recorder of spans, and without one. */
export const jobSpans: BenchmarkGroup = { ids: [SDK, CALLS_SDK, NONE], run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const recorder = createSpanRecorder();
  const echo = defineTool({
    ...{ id: 'x.echo', description: 'Gives back what it gets.', input: z.object({ n: z.number() }) },
    execute: async (input) => input,
  });
  const orchestrator = createOrchestrator({ runners: [createLocalRunner()], tools: [echo], pool: { size: 1 } });
  const shares: number[] = [];
  try {
    const wantsCalls = wants(CALLS_SDK);
    const subjects = [
      noting(shares, switched(recorder, 'off', execSubject(EXEC, orchestrator, LINE, true))),
      ...(wants(SDK) ? [switched(recorder, 'on', execSubject(SDK, orchestrator, LINE, true))] : []),
      ...(wantsCalls ? [switched(recorder, 'off', execSubject(CALLS, orchestrator, CALLING, true))] : []),
      ...(wantsCalls ? [switched(recorder, 'on', execSubject(CALLS_SDK, orchestrator, CALLING, true))] : []),
    ];
    const values = await takeTurns(subjects, samples, progress);
    const taken = (id: string): Taken => values.get(id) ?? [];
    const exec = taken(EXEC);
    const bare = 'failed' in exec ? exec : exec.map((ms, index) => ms - (shares.slice(-exec.length)[index] ?? NaN));
    const row = (id: string, goal: string, own: Taken, baseline: { id: string; values: Taken }): Measurement =>
      measurementOf({ id, unit: 'ms', goal, values: own, baseline });
    return [
      row(SDK, 'ratio ≤ 1.1', taken(SDK), { id: EXEC, values: exec }),
      row(CALLS_SDK, 'ratio ≤ 1.1', taken(CALLS_SDK), { id: CALLS, values: taken(CALLS) }),
      row(NONE, 'ratio ≤ 1.01', exec, { id: `${EXEC}.bare`, values: bare }),
    ].filter(({ id }) => wants(id));
  } finally {
    await orchestrator.close();
    await recorder.close();
  }
}

/** A subject whose turns run with or without recording of spans. */
function switched(recorder: SpanRecorder, to: 'on' | 'off', subject: Subject): Subject {
  return {
    ...subject,
    async sample() {
      recorder[to]();
      try {
        return await subject.sample();
      } finally {
        recorder.off();
      }
    },
  };
}

/** For each sample, also notes the milliseconds that its tracing calls take without a recorder. */
function noting(shares: number[], subject: Subject): Subject {
  return {
    ...subject,
    async sample() {
      const taken = await subject.sample();
      shares.push(await askForNothing());
      return taken;
    },
  };
}

/** The tracing calls of a job without a recorder, in milliseconds. Measured separately, because two runs of a job differ by more. */
async function askForNothing(): Promise<number> {
  const tracing = createTracing(undefined);
  const nothing = (): Promise<void> => Promise.resolve();
  const started = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const job = tracing.begin('job', { 'skillcell.job.id': 'j', 'skillcell.job.kind': 'exec' });
    await inSpan(job, async () => {
      job.set({ 'skillcell.job.language': 'javascript' });
      await inSpan(job.begin('start'), nothing);
      const trace = createRunTrace(job, 'exec');
      for (const type of ['skills', 'run', 'artifacts', 'result'])
        trace.take({ type } as Parameters<typeof trace.take>[0]);
      trace.outputEnded();
      trace.outputEnded();
      trace.end({ outcome: 'succeeded', artifacts: [], omitted: [] } as unknown as JobResult);
    });
  }
  return (performance.now() - started) / REPEATS;
}
