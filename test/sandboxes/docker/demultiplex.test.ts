import { Duplex, PassThrough, type Readable } from 'node:stream';
import Docker from 'dockerode';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { demultiplex } from '../../../src/sandboxes/docker/engine/demultiplex.ts';
import { openEnd } from '../../protocol/channel-pair.ts';

const MIB = 1024 * 1024;

function frame(stream: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

/** An attached stream that a test feeds by hand, with its recorded writes. */
class Attached extends Duplex {
  readonly written: Buffer[] = [];
  reads = 0;
  override _read(): void {
    this.reads += 1;
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk);
    done();
  }
}

/** Records the pieces of each write to the system. */
class CountedWrites extends Duplex {
  readonly writes: string[][] = [];
  override _read(): void {
    // There is no input.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push([chunk.toString('latin1')]);
    done();
  }
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(chunks.map(({ chunk }) => chunk.toString('latin1')));
    done();
  }
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Feeds chunks and returns the output of both streams. */
async function through(chunks: readonly Buffer[]): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const attached = new Attached();
  const errors: Buffer[] = [];
  const stdout = collect(demultiplex(attached, (bytes) => errors.push(Buffer.from(bytes))));
  for (const chunk of chunks) attached.push(chunk);
  attached.push(null);
  return { stdout: await stdout, stderr: Buffer.concat(errors) };
}

/** Resolves with the error that ends a stream, and the number of bytes before it. */
async function failure(chunks: readonly Buffer[]): Promise<{ error: Error; given: number }> {
  const attached = new Attached();
  const duplex = demultiplex(attached, () => undefined);
  let given = 0;
  duplex.on('data', (chunk: Buffer) => (given += chunk.length));
  const failed = new Promise<Error>((resolve) => duplex.once('error', resolve));
  for (const chunk of chunks) attached.push(chunk);
  const error = await failed;
  expect(attached.destroyed).toBe(true);
  return { error, given };
}

const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 300 })), { maxLength: 40 });

describe('any stream', () => {
  test('comes out byte for byte, for any split into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(frames, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), async (given, sizes) => {
        const bytes = Buffer.concat(given.map(([stream, payload]) => frame(stream, payload)));
        const chunks: Buffer[] = [];
        for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(bytes.subarray(offset, offset + size));
          offset += size;
        }
        const { stdout, stderr } = await through(chunks);
        const of = (wanted: number): Buffer =>
          Buffer.concat(given.flatMap(([stream, payload]) => (stream === wanted ? [payload] : [])));
        expect(stdout.equals(of(1))).toBe(true);
        expect(stderr.equals(of(2))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('ends with an error at garbage, and never passes it on', async () => {
    await fc.assert(
      fc.asyncProperty(frames, fc.uint8Array({ minLength: 8, maxLength: 100 }), async (given, garbage) => {
        const valid =
          (garbage[0] === 1 || garbage[0] === 2) && garbage[1] === 0 && garbage[2] === 0 && garbage[3] === 0;
        fc.pre(!valid);
        const good = given.filter(([stream]) => stream === 1).reduce((sum, [, payload]) => sum + payload.length, 0);
        const { error, given: passed } = await failure([
          ...given.map(([stream, payload]) => frame(stream, payload)),
          Buffer.from(garbage),
        ]);
        expect(error.message).toBe('Cannot read the container: the engine sent no multiplexed stream.');
        expect(passed).toBeLessThanOrEqual(good);
      }),
      { numRuns: 200 },
    );
  });
});

describe('tiny frames', () => {
  for (const count of [4_000, 100_000]) {
    test(`M1 takes ${count} frames of one byte in one chunk`, async () => {
      const chunk = Buffer.concat(Array.from({ length: count }, () => frame(1, Buffer.from('x'))));
      const cpu = process.threadCpuUsage();
      const { stdout } = await through([chunk]);
      expect(stdout.length).toBe(count);
      expect(process.threadCpuUsage(cpu).user / 1_000).toBeLessThan(1_000);
    });
  }

  test('M1 break the client’s own demultiplexer', () => {
    const chunk = Buffer.concat(Array.from({ length: 10_000 }, () => frame(1, Buffer.from('x'))));
    const stream = new PassThrough();
    const sink = new PassThrough();
    new Docker({ socketPath: '/nowhere' }).modem.demuxStream(stream, sink, sink);
    expect(() => stream.emit('data', chunk)).toThrow(RangeError);
  });

  test('takes empty frames', async () => {
    const { stdout, stderr } = await through([
      frame(1, Buffer.alloc(0)),
      frame(2, Buffer.alloc(0)),
      frame(1, Buffer.from('end')),
    ]);
    expect(stdout.toString()).toBe('end');
    expect(stderr.length).toBe(0);
  });
});

describe('large frames', () => {
  test('M3 pass in pieces, in linear time: 64 MiB', async () => {
    const attached = new Attached();
    let bytes = 0;
    const duplex = demultiplex(attached, () => undefined);
    duplex.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(64 * MIB, 4);
    const piece = Buffer.alloc(64 * 1024, 1);
    const cpu = process.threadCpuUsage();
    attached.push(header);
    for (let sent = 0; sent < 64 * MIB; sent += piece.length) {
      attached.push(piece);
      if (sent % (4 * MIB) === 0) await new Promise(setImmediate);
    }
    attached.push(null);
    await new Promise((resolve) => duplex.once('end', resolve));
    expect(bytes).toBe(64 * MIB);
    expect(process.threadCpuUsage(cpu).user / 1_000).toBeLessThan(3_000);
  });

  test('C04 pass at once without memory for their claimed size: 4 GiB', async () => {
    const attached = new Attached();
    const duplex = demultiplex(attached, () => undefined);
    const base = process.memoryUsage().arrayBuffers;
    attached.push(Buffer.from([1, 0, 0, 0, 255, 255, 255, 255]));
    attached.push(Buffer.from('first bytes'));
    const chunk = await new Promise<Buffer>((resolve) => duplex.once('data', resolve));
    expect(chunk.toString()).toBe('first bytes');
    expect(process.memoryUsage().arrayBuffers - base).toBeLessThan(MIB);
    attached.push(null);
    // The stream ends before the claimed size; the channel above reports the missing bytes.
    await new Promise((resolve) => duplex.resume().once('end', resolve));
  });
});

describe('any other stream', () => {
  const cases: [string, Buffer][] = [
    ['an unknown stream number', Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 65])],
    ['stdin', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 65])],
    ['a header without its zeros', Buffer.from([1, 0, 1, 0, 0, 0, 0, 1, 65])],
    ['the text of a terminal', Buffer.from('bash: warning: \u001b[31mno multiplexing\u001b[0m\r\n')],
    ['the text of a proxy', Buffer.from('HTTP/1.1 502 Bad Gateway\r\n\r\n')],
  ];
  for (const [what, bytes] of cases) {
    test(`C05 ends at ${what}, and does not pass it on`, async () => {
      const { error, given } = await failure([frame(1, Buffer.from('good')), bytes]);
      expect(error.message).toContain('no multiplexed stream');
      expect(given).toBeLessThanOrEqual(4);
    });
  }
});

describe('the other side', () => {
  test('C06 is paused while the reader does not read, and resumes with it', async () => {
    const attached = new Attached();
    const duplex = demultiplex(attached, () => undefined);
    const piece = frame(1, Buffer.alloc(16 * 1024, 1));
    let sent = 0;
    for (let turn = 0; turn < 50 && !attached.isPaused(); turn += 1) {
      attached.push(piece);
      sent += 1;
      await new Promise(setImmediate);
    }
    expect(attached.isPaused()).toBe(true);
    expect(sent).toBeLessThan(20);
    expect(duplex.readableLength).toBeLessThanOrEqual(duplex.readableHighWaterMark + piece.length);
    attached.push(null);
    expect((await collect(duplex)).length).toBe(sent * 16 * 1024);
  });

  test('gets all writes and the end', async () => {
    const attached = new Attached();
    const duplex = demultiplex(attached, () => undefined);
    duplex.write('one');
    await new Promise<void>((resolve) => duplex.end('two', resolve));
    expect(Buffer.concat(attached.written).toString()).toBe('onetwo');
    expect(attached.writableEnded).toBe(true);
    duplex.destroy();
  });

  test('gets all writes of one tick in one piece', async () => {
    const attached = new CountedWrites();
    const duplex = demultiplex(attached, () => undefined);
    duplex.cork();
    for (const piece of ['one', 'two', 'three']) duplex.write(piece);
    const taken = new Promise<void>((resolve) => duplex.write('four', () => resolve()));
    process.nextTick(() => duplex.uncork());
    await taken;
    expect(attached.writes).toEqual([['one', 'two', 'three', 'four']]);
    duplex.destroy();
  });

  test('gets all messages that a channel sends in one tick in one piece', async () => {
    const attached = new CountedWrites();
    const { channel } = openEnd(demultiplex(attached, () => undefined));
    channel.sendEvent({ event: 1 });
    channel.send({ message: 2 });
    const writer = channel.openStream();
    await writer.write(Buffer.from('bytes'));
    writer.end();
    await new Promise(setImmediate);
    expect(attached.writes).toHaveLength(1);
    expect(attached.writes[0]?.join('')).toMatch(/"event":1.*"message":2.*bytes/s);
    channel.close();
  });

  test('passes on the error of the engine, and is closed when the duplex is destroyed', async () => {
    const attached = new Attached();
    const duplex = demultiplex(attached, () => undefined);
    const failed = new Promise<Error>((resolve) => duplex.once('error', resolve));
    attached.destroy(new Error('ECONNRESET'));
    expect((await failed).message).toBe('ECONNRESET');
    const other = new Attached();
    demultiplex(other, () => undefined).destroy();
    await new Promise(setImmediate);
    expect(other.destroyed).toBe(true);
  });
});
