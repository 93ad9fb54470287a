import { expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { jobResult } from '../../../src/jobs/result/job-result.ts';
import { createRunTrace } from '../../../src/jobs/tracing/run-trace.ts';
import type { TraceSpan } from '../../../src/jobs/tracing/trace-span.ts';
import type { SandboxMessage, SandboxResult } from '../../../src/protocol/messages/messages.ts';

/** A span that records its own events and the events of its children; `when` gets the earlier end times. */
function notedSpan(notes: string[], when: Map<string, number>, name = 'job'): TraceSpan {
  return {
    begin(child, attributes = {}) {
      const number = attributes['skillcell.run.number'] ?? attributes['skillcell.attempt.number'];
      const path = `${name}/${child}${number === undefined ? '' : ` ${String(number)}`}`;
      notes.push(`+ ${path}`);
      return notedSpan(notes, when, path);
    },
    set: () => undefined,
    within: (fn) => fn(),
    end({ error, at } = {}) {
      notes.push(`- ${name}${error === undefined ? '' : ` ${error}`}`);
      if (at !== undefined) when.set(name, at);
    },
  };
}

const run = (number: number): SandboxMessage => ({ type: 'run', run: number, stdout: 1, stderr: 2 });
const asking = (attempt: number): SandboxMessage => ({ type: 'attempt', attempt, maxAttempts: 3, phase: 'asking' });
const reported: SandboxMessage = { type: 'result', result: {} as SandboxResult };
const result = (outcome: JobResult['outcome']): JobResult =>
  jobResult({ accepted: { jobId: 'j', kind: 'exec', attempt: 1 }, ended: { outcome } });

it('a run is over once both of its streams have ended, and the collection comes after it', () => {
  const [notes, when] = [[] as string[], new Map<string, number>()];
  const trace = createRunTrace(notedSpan(notes, when), 'exec');
  trace.take(run(1));
  trace.outputEnded();
  expect(notes).toEqual(['+ job/attempt 1', '+ job/attempt 1/run 1']);
  trace.outputEnded();
  const over = performance.now();
  expect(notes.at(-1)).toBe('+ job/collect');
  trace.take({ type: 'artifacts', stream: 3 });
  trace.take(reported);
  trace.end(result('failed'));
  expect(notes.slice(3)).toEqual(['- job/collect', '- job/attempt 1/run 1 failed', '- job/attempt 1 failed']);
  for (const name of ['job/attempt 1/run 1', 'job/attempt 1']) expect(when.get(name)).toBeLessThanOrEqual(over);
  expect(when.size).toBe(2);
});

it('an attempt goes on while its model is asked again, and has failed if another attempt follows', () => {
  const [notes, when] = [[] as string[], new Map<string, number>()];
  const trace = createRunTrace(notedSpan(notes, when), 'codegen');
  expect(notes).toEqual([]);
  trace.take(asking(1));
  trace.take(asking(1));
  trace.take(run(1));
  trace.outputEnded();
  trace.outputEnded();
  trace.take(asking(2));
  trace.take(run(2));
  trace.take(reported);
  trace.end(result('succeeded'));
  expect(notes).toEqual([
    '+ job/attempt 1',
    '+ job/attempt 1/run 1',
    '- job/attempt 1/run 1 failed',
    '- job/attempt 1 failed',
    '+ job/attempt 2',
    '+ job/attempt 2/run 2',
    '+ job/collect',
    '- job/collect',
    '- job/attempt 2/run 2',
    '- job/attempt 2',
  ]);
  expect([...when.keys()]).toEqual(['job/attempt 1/run 1', 'job/attempt 2']);
});

it('a call belongs to the current run, or else to its attempt', async () => {
  const [notes, when] = [[] as string[], new Map<string, number>()];
  const trace = createRunTrace(notedSpan(notes, when), 'codegen');
  const call = (): Promise<unknown> =>
    trace.aroundCall({ id: 1, target: 'tool', name: 'x' }, () =>
      Promise.resolve({ reply: { ok: true, value: null }, replayed: false }),
    );
  const parents: unknown[] = [];
  const noted = async (): Promise<void> => {
    await call();
    parents.push(notes.findLast((note) => note.startsWith('+')));
  };
  await noted();
  trace.take(asking(1));
  await noted();
  trace.take(run(1));
  await noted();
  trace.outputEnded();
  trace.outputEnded();
  await noted();
  expect(parents).toEqual(['+ job/call', '+ job/attempt 1/call', '+ job/attempt 1/run 1/call', '+ job/attempt 1/call']);
});
