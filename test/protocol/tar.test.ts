import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTarReader, TarRefused, writeTar, type TarCaps, type TarFile } from '../../src/protocol/files/tar.ts';
import { openEnd, duplexPair } from './channel-pair.ts';
import { paxEntry, TAR_END, tarEntry } from './tar-bytes.ts';
import { until } from '../fixtures/until.ts';

const CAPS: TarCaps = { files: 10, fileBytes: 4_096, totalBytes: 10_000 };

/** Reads an archive in chunks and awaits each one, like the channel. */
async function readChunks(chunks: readonly Uint8Array[], caps = CAPS, end = true): Promise<TarFile[]> {
  const files: TarFile[] = [];
  const { reader, done } = createTarReader(caps, (file) => void files.push(file));
  for (const chunk of chunks) await reader.data(Buffer.from(chunk));
  if (end) reader.end();
  await done;
  return files;
}

const read = (...chunks: Uint8Array[]): Promise<TarFile[]> => readChunks([Buffer.concat([...chunks, TAR_END])]);

/** The bytes of an archive of files. */
async function archiveOf(files: Iterable<TarFile>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await writeTar(files, {
    write: async (chunk) => void chunks.push(Buffer.from(chunk)),
    end: () => void chunks.push(Buffer.from('END')),
  });
  expect(chunks.at(-1)?.toString()).toBe('END');
  return Buffer.concat(chunks.slice(0, -1));
}

describe('tar on the channel', () => {
  it('carries any files unchanged, for any split of the bytes', async () => {
    const name = fc
      .array(fc.stringMatching(/^[\p{L}\p{N} _-]{1,60}$/u), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.map((part) => `n${part}`).join('/'));
    const file = fc.record({ path: name, bytes: fc.uint8Array({ maxLength: 1_500 }), executable: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(file, { maxLength: 6, selector: ({ path }) => path }),
        fc.integer({ min: 1, max: 2_000 }),
        async (files, stride) => {
          const bytes = await archiveOf(files);
          const chunks = Array.from({ length: Math.ceil(bytes.length / stride) }, (_, index) =>
            bytes.subarray(index * stride, (index + 1) * stride),
          );
          const back = await readChunks(chunks);
          expect(back.map((row) => ({ ...row, bytes: Buffer.from(row.bytes) }))).toEqual(
            files.map((row) => ({ ...row, bytes: Buffer.from(row.bytes) })),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('writes many small files in few pieces of at most about 64 KiB', async () => {
    const files = Array.from({ length: 200 }, (_, index) => ({
      path: `file-${index}`,
      bytes: Buffer.alloc(1_000, 1),
      executable: false,
    }));
    const sizes: number[] = [];
    await writeTar(files, { write: async (chunk) => void sizes.push(chunk.length), end: () => undefined });
    // 512 bytes of header and the bytes in blocks of 512, and the end of the archive.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(200 * 1_536);
    expect(sizes.length).toBeLessThanOrEqual(6);
    expect(Math.max(...sizes)).toBeLessThan(66 * 1024);
  });

  it('carries files that are larger than the window of the channel', async () => {
    const [left, right] = duplexPair();
    const big = { path: 'big', bytes: Buffer.alloc(5 * 1024 * 1024, 3), executable: false };
    const caps = { files: 10, fileBytes: 2 ** 30, totalBytes: 2 ** 30 };
    const sizes: number[] = [];
    const archive = createTarReader(caps, ({ bytes }) => void sizes.push(bytes.length));
    openEnd(right).channel.receive(1, archive.reader);
    await writeTar([big, { ...big, path: 'again' }], openEnd(left).channel.openStream());
    await archive.done;
    expect(sizes).toEqual([5 * 1024 * 1024, 5 * 1024 * 1024]);
  });

  it('requests each file only when its turn comes, and fails if a file fails', async () => {
    const asked: string[] = [];
    async function* files(): AsyncGenerator<TarFile> {
      for (const path of ['a', 'b']) {
        asked.push(path);
        yield { path, bytes: Buffer.alloc(10), executable: false };
      }
      throw new Error('the third cannot be read');
    }
    await expect(writeTar(files(), { write: async () => undefined, end: () => undefined })).rejects.toThrow(
      'the third cannot be read',
    );
    expect(asked).toEqual(['a', 'b']);
  });

  it('takes an empty archive', async () => {
    expect(await read()).toEqual([]);
    expect(await readChunks([])).toEqual([]);
  });

  it('D12 reduces modes to the executable bit', async () => {
    const files = await read(
      tarEntry({ name: 'suid', mode: 0o6755 }),
      tarEntry({ name: 'sticky', mode: 0o1644 }),
      tarEntry({ name: 'secret', mode: 0o000 }),
    );
    expect(files.map(({ path, executable }) => [path, executable])).toEqual([
      ['suid', true],
      ['sticky', false],
      ['secret', false],
    ]);
  });

  const file = (name: string): Buffer => tarEntry({ name, content: 'x' });
  it.each<[string, Buffer[]]>([
    ['D11 a component ..', [file('a/../../b')]],
    ['D11 .. alone', [file('..')]],
    ['D11 an absolute name', [file('/etc/passwd')]],
    ['D11 a link', [tarEntry({ name: 'l', type: '2', link: '/etc/passwd' })]],
    ['D11 a link and then a file through it', [tarEntry({ name: 'l', type: '2', link: '/tmp' }), file('l/x')]],
    ['D11 a hard link', [file('a'), tarEntry({ name: 'h', type: '1', link: 'a' })]],
    ['D11 a name twice', [file('a'), file('a')]],
    ['D11 a folder', [tarEntry({ name: 'd/', type: '5' })]],
    ['D11 a file and then a folder of its name', [file('a'), tarEntry({ name: 'a/', type: '5' })]],
    ['D06 a character device', [tarEntry({ name: 'c', type: '3' })]],
    ['D06 a block device', [tarEntry({ name: 'b', type: '4' })]],
    ['D06 a pipe', [tarEntry({ name: 'p', type: '6' })]],
    ['an unknown type', [tarEntry({ name: 'u', type: 'Z', content: 'x' })]],
    ['D10 a backslash', [file('..\\..\\x')]],
    ['D13 a pax path with a NUL', [paxEntry({ path: 'a\0b' }), file('a')]],
    ['D13 a pax path that is absolute', [paxEntry({ path: '/etc/passwd' }), file('a')]],
    ['D13 a pax size that is negative', [paxEntry({ size: '-1' }), file('a')]],
    ['D13 a pax size that is not a number', [paxEntry({ size: 'many' }), file('a')]],
    ['D13 a pax size over the cap', [paxEntry({ size: '99999999999' }), file('a')]],
    ['D13 a size over the cap', [tarEntry({ name: 'a', size: 5_000 })]],
    ['D13 a size of eight gigabytes', [tarEntry({ name: 'a', size: '77777777777' })]],
    ['D13 a pax header of one gigabyte', [tarEntry({ name: 'p', type: 'x', size: 2 ** 30 }), Buffer.alloc(8_192)]],
    ['D13 a long name of one gigabyte', [tarEntry({ name: 'p', type: 'L', size: 2 ** 30 }), Buffer.alloc(8_192)]],
    ['a wrong checksum', [Buffer.from(file('a').fill('9', 148, 154))]],
    ['bytes that are not an archive', [Buffer.alloc(2_048, 'garbage ')]],
    ['compressed bytes', [Buffer.from('1f8b0800', 'hex'), Buffer.alloc(1_024, 1)]],
  ])('refuses %s as a whole', async (_name, entries) => {
    await expect(read(...entries)).rejects.toThrow();
  });

  it('names the exceeded limit', async () => {
    const many = Array.from({ length: 11 }, (_, index) => file(`f${index}`));
    await expect(read(...many)).rejects.toThrow(TarRefused);
    await expect(read(...many)).rejects.toThrow('over 10 files');
    const large = Array.from({ length: 3 }, (_, index) =>
      tarEntry({ name: `f${index}`, content: Buffer.alloc(4_096) }),
    );
    await expect(read(...large)).rejects.toThrow('over 10000 bytes');
    await expect(read(tarEntry({ name: 'a', content: Buffer.alloc(4_097) }))).rejects.toThrow('over 4096 bytes');
  });

  it('D13 a pax header may name a file; a false short size makes the rest invalid', async () => {
    expect((await read(paxEntry({ path: 'long/ünï' }), file('x'))).map(({ path }) => path)).toEqual(['long/ünï']);
    const lying = [paxEntry({ size: '1' }), tarEntry({ name: 'a', content: Buffer.alloc(2_000, 'z') })];
    await expect(read(...lying)).rejects.toThrow();
  });

  it('D14 an archive that is cut off at any place inside an entry is one rejected promise', async () => {
    const whole = Buffer.concat([tarEntry({ name: 'a', content: Buffer.alloc(1_300, 1) }), file('b')]);
    // At a border between entries, the archive does not show that more should come: there the end mark of the channel decides.
    const borders = new Set([0, 512 + 1_536, whole.length]);
    for (let length = 1; length < whole.length; length += 37) {
      if (borders.has(length)) continue;
      await expect(readChunks([whole.subarray(0, length)]), `cut at ${length}`).rejects.toThrow();
    }
  });

  it('D14 an archive whose stream never ends is never complete', async () => {
    const { reader, done } = createTarReader(CAPS, () => undefined);
    let settled = false;
    void done.finally(() => (settled = true));
    await reader.data(Buffer.concat([file('a'), TAR_END]));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(settled).toBe(false);
    reader.end();
    await done;
  });

  it('a refused archive blocks no sender, and drops further bytes', async () => {
    const { reader, done } = createTarReader(CAPS, () => undefined);
    await reader.data(file('/absolute'));
    await expect(done).rejects.toThrow(TarRefused);
    for (let round = 0; round < 100; round += 1) await reader.data(Buffer.alloc(64 * 1024));
    reader.end();
  });

  it('an error of the file handler refuses the archive', async () => {
    const { reader, done } = createTarReader(CAPS, () => Promise.reject(new Error('no space left')));
    void reader.data(Buffer.concat([file('a'), file('b'), TAR_END]));
    await expect(done).rejects.toThrow('no space left');
  });

  it('makes a sender wait while the handler takes a file', async () => {
    const gates: (() => void)[] = [];
    const { reader, done } = createTarReader(CAPS, () => new Promise<void>((resolve) => gates.push(resolve)));
    let taken = false;
    void reader.data(file('a'));
    void Promise.resolve(reader.data(Buffer.concat([file('b'), file('c'), Buffer.alloc(64 * 1024)]))).then(
      () => (taken = true),
    );
    await until(() => gates.length === 1, 'the first file');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken).toBe(false);
    const opened = setInterval(() => gates.splice(0).forEach((open) => open()), 1);
    reader.end();
    await done;
    clearInterval(opened);
    expect(taken).toBe(true);
  });

  it('never leaves an error uncaught for any bytes', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record({
          name: fc.string(),
          type: fc.constantFrom('0', '1', '2', '5', 'x', 'g', 'L', 'S'),
          size: fc.nat(9_000),
          content: fc.string(),
        })
        .map(tarEntry),
      fc.dictionary(fc.constantFrom('path', 'size', 'linkpath'), fc.string()).map(paxEntry),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 5 }), async (pieces) => {
        const files = await readChunks(pieces).catch((error: unknown) => {
          expect(error).toBeInstanceOf(Error);
          return [];
        });
        expect(files.length).toBeLessThanOrEqual(CAPS.files);
      }),
      { numRuns: 300 },
    );
  });
});
