import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import { createEventStream } from '../../../src/jobs/events/event-stream.ts';
import { createOutputEvents } from '../../../src/jobs/events/output-events.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';
import { until } from '../../fixtures/until.ts';

const library = skillLibrary({ 'one/SKILL.md': skillText({ name: 'one', description: 'One.' }, 'One.') });
const orchestrator = createOrchestrator({ skills: library.subsystem });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

const MIB = 1024 * 1024;
/** Writes 40 MiB as fast as possible. */
const FLOOD = `import { writeSync } from 'node:fs';
  const block = Buffer.alloc(1024 * 1024, 'x');
  for (let count = 0; count < 40; count += 1) for (let at = 0; at < block.length; ) try { at += writeSync(1, block, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; }`;

describe.each(LEVELS)('the events of a job at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('arrive in order, end with the result, and name the job', async () => {
    const job = orchestrator.stream({
      kind: 'exec',
      isolation,
      skills: { refs: ['custom.one'] },
      code: `import { writeFileSync } from 'node:fs'; console.log('out'); console.error('err'); writeFileSync(process.env.SKILLCELL_OUTPUT + '/a', 'b');`,
    });
    const events: JobEvent[] = [];
    for await (const event of job) events.push(event);
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type !== 'output')).toEqual([
      'accepted',
      'started',
      'skills',
      'run',
      'artifact',
      'finished',
    ]);
    expect(types.slice(4, -2)).toEqual(['output', 'output']);
    const outputs = events.flatMap((event) =>
      event.type === 'output' ? [`${event.stream} ${Buffer.from(event.bytes)}`] : [],
    );
    expect(outputs.toSorted()).toEqual(['stderr err\n', 'stdout out\n']);
    expect(new Set(events.map(({ jobId }) => jobId))).toEqual(new Set([job.jobId]));
    const result = await job.result;
    expect(events.at(-1)).toEqual({ type: 'finished', jobId: job.jobId, result });
    expect(events[1]).toMatchObject({ isolation: result.isolation, runner: 'local', warm: false });
  });

  it('have output as text and bytes, with pieces of any size, and keep both in JSON', async () => {
    const code = `import { writeSync } from 'node:fs';
      for (const byte of Buffer.from('naïve 漢字 \\u{1f389}\\n')) {
        writeSync(1, Buffer.of(byte));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      writeSync(1, Buffer.of(0xe6, 0xbc));`;
    const job = orchestrator.stream({ kind: 'exec', isolation, code });
    let text = '';
    let copied = '';
    const bytes: Uint8Array[] = [];
    for await (const event of job) {
      if (event.type !== 'output') continue;
      text += event.text;
      bytes.push(event.bytes);
      const copy = JSON.parse(JSON.stringify(event)) as { type: string; text: string; bytes: string };
      expect(copy).toMatchObject({ type: 'output', jobId: job.jobId, stream: 'stdout', text: event.text });
      copied += Buffer.from(copy.bytes, 'base64').toString('latin1');
    }
    expect(text).toBe('naïve 漢字 \u{1f389}\n\ufffd');
    expect(bytes.length).toBeGreaterThan(3);
    expect(copied).toBe(Buffer.concat(bytes).toString('latin1'));
  });

  it('keep the message of an error in JSON', async () => {
    const job = orchestrator.stream({ kind: 'exec', isolation, code: '' });
    await job.result.catch(() => undefined);
    const events: JobEvent[] = [];
    for await (const event of job) events.push(event);
    expect(JSON.parse(JSON.stringify(events))).toEqual([
      {
        type: 'faulted',
        jobId: job.jobId,
        error: {
          name: 'SkillcellError',
          code: 'job.invalid',
          message: 'Cannot accept the job: code must not be empty, got "".',
          hint: 'Correct the named field of the job.',
          diagnostics: [],
        },
      },
    ]);
  });

  it('are kept for a reader that starts after the end', async () => {
    const job = orchestrator.stream({ kind: 'exec', isolation, code: 'console.log("early")' });
    await job.result;
    const types: string[] = [];
    for await (const { type } of job) types.push(type);
    expect(types).toEqual(['accepted', 'started', 'skills', 'run', 'output', 'finished']);
  });

  it('C06 slow the job for a slow reader, and the host holds only a few MiB', async () => {
    const job = orchestrator.stream({ kind: 'exec', isolation, code: FLOOD, limits: { keptOutputBytes: 40 * MIB } });
    let finished = false;
    void job.result.then(() => (finished = true));
    const reader = job[Symbol.asyncIterator]();
    let bytes = 0;
    const next = async (): Promise<boolean> => {
      const { value, done } = await reader.next();
      if (value?.type === 'output') bytes += value.bytes.length;
      return done === true;
    };
    while (bytes === 0) await next();
    const before = process.memoryUsage().arrayBuffers;
    // Without backpressure, the program would finish in a fraction of this time.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(finished).toBe(false);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MIB);
    while (!(await next()));
    expect(bytes).toBe(40 * MIB);
    expect((await job.result).stdout).toMatchObject({ bytes: 40 * MIB, truncated: false });
  });

  it('do not block the job after its reader has left', async () => {
    const job = orchestrator.stream({ kind: 'exec', isolation, code: FLOOD, limits: { keptOutputBytes: 40 * MIB } });
    for await (const { type } of job) if (type === 'output') break;
    expect((await job.result).stdout.bytes).toBe(40 * MIB);
  });

  it('do not block a job without a reader', async () => {
    const job = orchestrator.stream({ kind: 'exec', isolation, code: FLOOD, limits: { keptOutputBytes: 40 * MIB } });
    expect((await job.result).stdout.bytes).toBe(40 * MIB);
  });
});

describe('a job that we fail', () => {
  it('ends its events with the error that its result rejects with', async () => {
    const job = orchestrator.stream({ kind: 'exec', isolation: 'none', code: '' });
    const events: JobEvent[] = [];
    for await (const event of job) events.push(event);
    const error: unknown = await job.result.catch((thrown: unknown) => thrown);
    expect(events).toEqual([{ type: 'faulted', jobId: job.jobId, error }]);
  });
});

describe('createEventStream()', () => {
  const output = (size: number): JobEvent => ({
    type: 'output',
    text: '',
    jobId: 'j',
    stream: 'stdout',
    bytes: Buffer.alloc(size),
  });

  it('keeps all events for a late reader, without a limit', async () => {
    const stream = createEventStream();
    for (let count = 0; count < 12; count += 1) await stream.push(output(MIB));
    stream.end();
    let bytes = 0;
    for await (const event of stream) if (event.type === 'output') bytes += event.bytes.length;
    expect(bytes).toBe(12 * MIB);
  });

  it('makes its writer wait above 4 MiB once a reader has begun, until the reader catches up', async () => {
    const stream = createEventStream();
    const reader = stream[Symbol.asyncIterator]();
    const first = reader.next();
    let resumed = 0;
    for (let count = 0; count < 6; count += 1) void stream.push(output(MIB)).then(() => (resumed += 1));
    await first;
    await until(() => resumed >= 4, 'the first pushes');
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(resumed).toBeLessThan(6);
    await reader.next();
    await until(() => resumed === 6, 'all pushes');
  });

  it('joins waiting bytes into few events, and loses no byte', async () => {
    const stream = createEventStream();
    const emit = createOutputEvents('j', (event) => stream.push(event));
    const seen = { stdout: '', stderr: '' };
    const events: JobEvent[] = [];
    const take = (event: JobEvent): void => {
      events.push(event);
      if (event.type !== 'output') return;
      seen[event.stream] += event.text;
      expect(event.text).toBe(Buffer.from(event.bytes).toString());
    };
    const write = async (from: number, to: number): Promise<void> => {
      for (let count = from; count < to; count += 1) {
        await emit.write('stdout', Buffer.from(String(count % 10)));
        await emit.write('stderr', Buffer.from('abcdefghij'.charAt(count % 10)));
      }
    };
    await write(0, 100_000);
    await stream.push({ type: 'run', jobId: 'j', run: 2 });
    await write(100_000, 100_010);
    const reader = stream[Symbol.asyncIterator]();
    // Events that are read meanwhile do not include later output.
    for (let count = 0; count < 1_030; count += 1) {
      take((await reader.next()).value as JobEvent);
      await write(100_010 + 10 * count, 100_020 + 10 * count);
    }
    stream.end();
    for (;;) {
      const { done, value } = await reader.next();
      if (done === true) break;
      take(value);
    }
    const total = 100_010 + 10 * 1_030;
    expect(seen.stdout).toBe('0123456789'.repeat(total / 10));
    expect(seen.stderr).toBe('abcdefghij'.repeat(total / 10));
    expect(events.length).toBeLessThan(3_000);
    const runAt = events.findIndex((event) => event.type === 'run');
    const before = events.slice(0, runAt).map((event) => (event.type === 'output' ? event.bytes.length : 0));
    expect(before.reduce((sum, bytes) => sum + bytes, 0)).toBe(200_000);
  });

  it('releases waiting writers when the reader leaves, and accepts no event after its end', async () => {
    const stream = createEventStream();
    const reader = stream[Symbol.asyncIterator]();
    const first = reader.next();
    const waiting = [1, 2, 3].map(() => stream.push(output(3 * MIB)));
    await first;
    await reader.return?.();
    await Promise.all(waiting);
    stream.end();
    await stream.push({ type: 'accepted', jobId: 'j' });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).not.toContain('accepted');
  });
});
