import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import { writeEvents } from '../../src/queue/log-events.ts';
import type { JobLog } from '../../src/queue/seams/job-log.ts';

const NOTHING = 'not part of this test';

/** A log that keeps its lines in memory. */
function memoryLog(): { lines: Record<string, unknown>[]; log: JobLog } {
  const lines: Record<string, unknown>[] = [];
  const log = {
    begin: () => expect.unreachable(NOTHING),
    append: async (_id: string, added: readonly string[]) =>
      void lines.push(...added.map((line) => JSON.parse(line) as Record<string, unknown>)),
    read: () => expect.unreachable(NOTHING),
    isPlace: () => expect.unreachable(NOTHING),
    last: () => expect.unreachable(NOTHING),
    release: () => expect.unreachable(NOTHING),
    leave: () => expect.unreachable(NOTHING),
  };
  return { lines, log };
}

function output(stream: 'stdout' | 'stderr', bytes: Uint8Array | string): JobEvent {
  return { type: 'output', jobId: 'j', stream, bytes: Buffer.from(bytes), text: '' };
}

function bytesOf(lines: readonly Record<string, unknown>[], stream: string): Buffer {
  const pieces = lines.filter((line) => line['stream'] === stream);
  return Buffer.concat(
    pieces.map(({ text, base64 }) =>
      base64 === undefined ? Buffer.from(text as string) : Buffer.from(base64 as string, 'base64'),
    ),
  );
}

describe('writeEvents()', () => {
  it('joins output, keeps its order with other events, and all of its bytes', async () => {
    const { lines, log } = memoryLog();
    const events = writeEvents(log, 'j');
    await events.write({ type: 'run', jobId: 'j', run: 1 });
    for (const letter of 'ohne') await events.write(output('stdout', letter));
    await events.write(output('stderr', 'oops'));
    await events.write(output('stdout', '!'));
    await events.write({ type: 'run', jobId: 'j', run: 2 });
    await events.write(output('stdout', 'last'));
    await events.flush();
    expect(lines.map(({ type, stream, text }) => [type, stream, text])).toEqual([
      ['run', undefined, undefined],
      ['output', 'stdout', 'ohne'],
      ['output', 'stderr', 'oops'],
      ['output', 'stdout', '!'],
      ['run', undefined, undefined],
      ['output', 'stdout', 'last'],
    ]);
  });

  it('writes a character whole that came in two parts, and bytes that are no text as base64', async () => {
    const { lines, log } = memoryLog();
    const events = writeEvents(log, 'j');
    const text = Buffer.from('a€b🎉');
    for (const byte of text) {
      await events.write(output('stdout', Buffer.from([byte])));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await events.write(output('stderr', Buffer.from([0xff, 0x00, 0x80])));
    await events.write(output('stdout', Buffer.from([0xe2, 0x82])));
    await events.flush();
    expect(
      lines
        .filter(({ stream }) => stream === 'stdout')
        .flatMap(({ text: part }) => part ?? [])
        .join(''),
    ).toBe('a€b🎉');
    expect(bytesOf(lines, 'stdout')).toEqual(Buffer.concat([text, Buffer.from([0xe2, 0x82])]));
    expect(bytesOf(lines, 'stderr')).toEqual(Buffer.from([0xff, 0x00, 0x80]));
  });

  it('keeps random bytes in random pieces', async () => {
    const { lines, log } = memoryLog();
    const events = writeEvents(log, 'j');
    const all = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7_919) % 251));
    for (let at = 0; at < all.length;) {
      const length = 1 + ((at * 31) % 20_000);
      await events.write(output('stdout', all.subarray(at, at + length)));
      at += length;
    }
    await events.flush();
    expect(bytesOf(lines, 'stdout').equals(all)).toBe(true);
  });
});
