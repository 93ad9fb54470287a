import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { deflateRawSync } from 'node:zlib';
import { fromBufferPromise, type Entry } from 'yauzl';
import { ArchiveRefusal } from '../../src/archives/checks/archive-refused.ts';
import { readTar } from '../../src/archives/tar/read-tar.ts';
import { type ReadArchive, readZip } from '../../src/archives/zip/read-zip.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { attributes, longName, rawTarGz, type RawTarEntry } from '../fixtures/archives/raw-tar.ts';
import { extraField, rawZip, type RawZipEnd, type RawZipEntry, unicodePath } from '../fixtures/archives/raw-zip.ts';
import type { FuzzPeers } from './fuzz.ts';
import { assertNotPolluted, mutated, someBytes } from './fuzz-parts.ts';

const NAMES: [string, ...string[]] = [
  'SKILL.md',
  'a',
  'A',
  'a/b',
  'b/',
  'ü',
  '../x',
  '._x',
  '__proto__',
  'c/d/e',
  '.',
  '',
];
const LIES = 12;

/** Archives with and without lies. Each is refused with a reason, or read as other programs read it. */
export async function fuzzArchives(random: SeededRandom, { python }: FuzzPeers = {}): Promise<void> {
  const zip = someZip(random);
  const read = await readOrRefused(readZip(zip));
  if (read !== undefined) {
    assert.deepEqual(await readByYauzl(zip), shown(read));
    if (python !== undefined) assert.deepEqual(await python.read(zip), shown(read));
  }
  await readOrRefused(readTar(someTar(random)));
  assertNotPolluted();
}

/** The files of an accepted archive by their names. Files that are left out have no content. */
export function shown({ tree, leftOut }: ReadArchive): Record<string, string> {
  const files = [...tree].map(([path, { bytes }]) => [path, Buffer.from(bytes).toString('base64')] as const);
  const out = leftOut.map((path) => [path, ''] as const);
  return Object.fromEntries([...files, ...out].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function readOrRefused(reading: Promise<ReadArchive>): Promise<ReadArchive | undefined> {
  try {
    return await reading;
  } catch (error) {
    assert.ok(error instanceof ArchiveRefusal, error as Error);
    return undefined;
  }
}

async function readByYauzl(bytes: Buffer): Promise<Record<string, string>> {
  const archive = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false });
  const files: [string, string][] = [];
  for await (const entry of archive.eachEntry() as AsyncIterable<Entry>) {
    const name = Buffer.from(entry.fileName as unknown as Uint8Array).toString();
    if (name.endsWith('/')) continue;
    const content = await buffer(await archive.openReadStreamPromise(entry));
    files.push([name, isLeftOutOf(name) ? '' : content.toString('base64')]);
  }
  return Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isLeftOutOf(name: string): boolean {
  return name.split('/').some((part) => part.startsWith('._'));
}

/** An archive in one of many forms, with or without lies. */
export function someZip(random: SeededRandom): Buffer {
  const lies = (): boolean => random.between(1, LIES) === 1;
  const entries = Array.from({ length: random.between(1, 5) }, (_, index): RawZipEntry => {
    const name = lies() ? random.pick(NAMES) : `f${index}${random.pick(['', 'ü', '/x', ' y'])}`;
    const content = someBytes(random, random.pick([0, 1, 100, 5_000]));
    const entry: RawZipEntry = { name, content, method: random.pick([0, 8]), flags: random.pick([0, 0x800]) };
    if (lies()) entry.size = random.pick([0, 1, content.length + 1, 0xffff_ffff]);
    if (lies()) entry.crc = 7;
    if (lies()) entry.mode = random.pick([0, 0o120_777, 0o040_755, 0o100_755]);
    if (lies())
      entry.extra = random.pick([
        unicodePath('b', 'a'),
        unicodePath(name),
        extraField(1, Buffer.alloc(8)),
        extraField(9, Buffer.alloc(3)),
      ]);
    if (lies())
      entry.local = random.pick<NonNullable<RawZipEntry['local']>>([
        { name: 'b' },
        { method: 0 },
        { size: 0, crc: 0, packedSize: 0 },
        { flags: 8 },
        { extra: extraField(1, Buffer.alloc(16)) },
      ]);
    if (lies()) entry.packed = Buffer.concat([deflateRawSync(content), Buffer.from('x')]);
    if (lies()) entry.offset = random.between(0, 100);
    if (lies())
      entry.hidden = random.pick<string | Buffer>([
        rawZip([{ name: 'hidden' }]).subarray(0, 36),
        'x',
        Buffer.alloc(12),
      ]);
    return entry;
  });
  const end = lies()
    ? random.pick<RawZipEnd>([
        { comment: 'text' },
        { count: 1 },
        { before: 'x' },
        { after: 'x' },
        { shifted: 1, before: 'x' },
        { comment: rawZip([{ name: 'z' }]) },
        { hidden: 'x' },
      ])
    : {};
  const bytes = rawZip(entries, end);
  return lies() ? mutated(random, bytes) : bytes;
}

function someTar(random: SeededRandom): Buffer {
  const lies = (): boolean => random.between(1, LIES) === 1;
  const entries = Array.from({ length: random.between(1, 5) }, (_, index): RawTarEntry[] => {
    const name = lies() ? random.pick(NAMES) : `f${index}`;
    const entry: RawTarEntry = { name, content: someBytes(random, random.pick([0, 1, 600])) };
    if (lies()) entry.type = random.pick(['1', '2', '5', '7', 'S', 'x', 'L', '\0']);
    if (lies()) entry.size = random.pick([0, 1, 513, 2 ** 33 - 1, '-1', '']);
    const front = lies()
      ? [random.pick([longName('l'), attributes([['path', 'p']]), attributes([['size', '1']], 'g')])]
      : [];
    return [...front, entry];
  });
  const bytes = rawTarGz(entries.flat(), lies() ? { end: Buffer.alloc(random.pick([0, 512])) } : {});
  return lies() ? mutated(random, bytes) : bytes;
}
