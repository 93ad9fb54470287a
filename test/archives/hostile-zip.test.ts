import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ArchiveRefusal } from '../../src/archives/checks/archive-refused.ts';
import { readZip, type ZipCheck } from '../../src/archives/zip/read-zip.ts';
import { randomBytes } from '../fixtures/archives/random-bytes.ts';
import { rawTar } from '../fixtures/archives/raw-tar.ts';
import { forgetPeak, peakMemory } from '../fixtures/peak-memory.ts';
import { extraField, rawZip, unicodePath, type RawZipEntry, type RawZipEnd } from '../fixtures/archives/raw-zip.ts';

const SKILL = { name: 'SKILL.md', content: '---\nname: a\ndescription: A.\n---\nBody.\n' };
const MIB = 1024 * 1024;
const LINK = 0o120_777;

/** The code of the refusal, or the paths of the files. */
async function come(bytes: Uint8Array, without?: ZipCheck): Promise<string | string[]> {
  return await readZip(bytes, { without }).then(
    ({ tree }) => [...tree.keys()],
    (error: ArchiveRefusal) => error.fault ?? String(error.stack),
  );
}

/** The second entry's header and data are the data of the first one. */
function nested(): Uint8Array {
  const inner = { name: 'inner', content: 'x'.repeat(100) };
  const whole = rawZip([inner]).subarray(0, 30 + 5 + 100);
  return rawZip([
    { name: 'outer', content: whole },
    { ...inner, elsewhere: true, offset: 30 + 5 },
  ]);
}

/** The second entry's header and data are an extra field of the first entry, which programs ignore. */
function nestedInField(): Uint8Array {
  const inner = { name: 'inner', content: 'x' };
  const field = extraField(0x7777, rawZip([inner]).subarray(0, 30 + 5 + 1));
  return rawZip([
    { name: 'outer', local: { extra: field } },
    { ...inner, elsewhere: true, offset: 30 + 5 + 4 },
  ]);
}

/** All entries share the data and the local header of the first entry, or each entry has its own. */
function overlapping(isNested = true): Uint8Array {
  const kernel = { name: 'a', content: Buffer.alloc(MIB), method: 8 };
  return rawZip(
    Array.from({ length: 41 }, (_, index) => ({
      ...kernel,
      name: String.fromCodePoint(0x4e00 + index),
      ...(isNested ? { local: { name: '一' }, elsewhere: index > 0, offset: 0 } : {}),
    })),
  );
}

type Case = [id: string, what: string, fault: string, without: ZipCheck, archive: () => Uint8Array];
const named = (id: string, name: string): Case => [
  id,
  JSON.stringify(name),
  'zip.name',
  'name',
  () => rawZip([SKILL, { name, content: 'x' }]),
];
const zip = (
  id: string,
  what: string,
  fault: string,
  without: ZipCheck,
  entries: RawZipEntry[],
  end?: RawZipEnd,
): Case => [id, what, fault, without, () => rawZip([SKILL, ...entries], end)];

const CASES: Case[] = [
  ...['../../evil', 'a/../../b', '..\\..\\evil', 'C:/x', '/abs', '//x', 'a//b', './a', 'a/.'].map((name) =>
    named('H01', name),
  ),
  zip('H02', 'a link, and a file below it', 'zip.link', 'link', [{ name: 'link', content: '/etc', mode: LINK }]),
  [
    'H03',
    'a SKILL.md that is a link',
    'zip.link',
    'link',
    () => rawZip([{ name: 'SKILL.md', content: '/etc/passwd', mode: LINK }]),
  ],
  ...(
    [
      ['a fifo', 0o010_644],
      ['a device', 0o020_644],
      ['a socket', 0o140_644],
    ] as const
  ).map(([what, mode]) => zip('H02', what, 'zip.link', 'link', [{ name: 'odd', mode }])),
  zip('H04', 'two entries with the same name', 'zip.ambiguous', 'duplicate', [
    { name: 'a', content: '1' },
    { name: 'a', content: '2' },
  ]),
  ...(
    [
      ['A', 'a'],
      ['é', 'e\u0301'],
      ['straße', 'strasse'],
      ['ｆｕｌｌ', 'full'],
      ['A/x', 'a/y'],
      ['İ', 'i̇'],
    ] as const
  ).map(([a, b]) => zip('H05', `${a} and ${b}`, 'zip.collision', 'collision', [{ name: a }, { name: b }])),
  ...['trailing.', 'trailing ', 'CON', 'aux.md', 'a:b', 'x/nul.txt', 'COM1'].map((name) => named('H05', name)),
  ...[
    'a\u0000b',
    'a\nb',
    'a\u001b[31mb',
    'a\u202eb',
    'a\u200bb',
    'x'.repeat(256),
    `${'x/'.repeat(16)}y`,
    `${`${'x'.repeat(200)}/`.repeat(5)}${'y'.repeat(100)}`,
  ].map((name) => named('H06', name)),
  [
    'H06',
    'a name that is not UTF-8',
    'zip.name',
    'name',
    () => rawZip([SKILL, { name: Buffer.from([0x61, 0xff]), flags: 0 }]),
  ],
  zip('H07', 'a file and a folder with the same name', 'zip.file-folder', 'file-folder', [
    { name: 'a' },
    { name: 'a/b' },
  ]),
  zip('H07', 'a folder with data', 'zip.file-folder', 'file-folder', [{ name: 'a/', content: 'x', mode: 0o040_755 }]),
  zip('H07', 'a folder with the name of a file', 'zip.file-folder', 'file-folder', [{ name: 'a', mode: 0o040_755 }]),
  zip('H08', 'more than 50 MiB as declared', 'zip.size', 'size', [
    { name: 'bomb', content: Buffer.alloc(51 * MIB), method: 8 },
  ]),
  ['H09', 'an entry inside the data of another one', 'zip.overlap', 'overlap', nested],
  ['H09', 'an entry inside the extra field of another one', 'zip.overlap', 'overlap', nestedInField],
  zip('H10', '40 MiB declared as ten bytes', 'zip.size', 'declared', [
    { name: 'a', content: Buffer.alloc(40 * MIB), method: 8, size: 10 },
  ]),
  zip('H10', 'ten bytes declared as 7 MiB', 'zip.size', 'declared', [
    { name: 'a', content: 'ten bytes.', method: 8, size: 7 * MIB },
  ]),
  zip(
    'H11',
    '501 entries',
    'zip.entries',
    'entries',
    Array.from({ length: 500 }, (_, index) => ({ name: `f${index}` })),
  ),
  zip('H15', 'another name in the local header', 'zip.header', 'header', [{ name: 'a', local: { name: 'b' } }]),
  zip('H15', 'another name in the Unicode path field', 'zip.header', 'unicode-path', [
    { name: 'a', extra: unicodePath('b', 'a') },
  ]),
  zip('H15', 'a Unicode path field for another name', 'zip.header', 'unicode-path', [
    { name: 'a', extra: unicodePath('a', 'b') },
  ]),
  [
    'H16',
    'a script before the archive',
    'zip.ambiguous',
    'ambiguous',
    () => rawZip([SKILL], { before: '#!/bin/sh\n' }),
  ],
  ['H16', 'bytes after the archive', 'zip.ambiguous', 'ambiguous', () => rawZip([SKILL], { after: 'more' })],
  ['H16', 'two archives', 'zip.ambiguous', 'ambiguous', () => Buffer.concat([rawZip([SKILL]), rawZip([SKILL])])],
  ...(
    [
      ['bytes', 'hidden'],
      ['an unlisted file', rawZip([{ name: 'evil', content: 'x' }]).subarray(0, 30 + 4 + 1)],
      ['a descriptor that no entry announces', Buffer.alloc(12)],
    ] as const
  ).flatMap(([what, hidden]): Case[] => [
    zip('H16', `${what} between two entries`, 'zip.ambiguous', 'gap', [{ name: 'a', content: 'x', hidden }]),
    zip('H16', `${what} after the last entry`, 'zip.ambiguous', 'gap', [{ name: 'a', content: 'x' }], { hidden }),
  ]),
  zip('H16', 'bytes after a descriptor', 'zip.ambiguous', 'gap', [{ name: 'a', content: 'x', flags: 0x808 }], {
    hidden: Buffer.concat([Buffer.from(Uint32Array.of(crc32('x'), 1, 1).buffer), Buffer.from('more')]),
  }),
  zip('H18', 'bytes after the end of deflate', 'zip.data', 'data', [
    { name: 'a', content: 'abc', method: 8, packed: Buffer.concat([deflateRawSync('abc'), Buffer.from('garbage')]) },
  ]),
  zip('H18', 'another checksum', 'zip.checksum', 'checksum', [{ name: 'a', content: 'abc', crc: 7 }]),
];

/** Archives that no option of `without` accepts. Without the one fault, the same archive is accepted. */
type Broken = [id: string, what: string, fault: string, archive: () => Uint8Array, undone: () => Uint8Array];
/** A refused entry beside a skill, and the fields that make it acceptable. */
const broken = (id: string, what: string, fault: string, entry: RawZipEntry, undone: Partial<RawZipEntry>): Broken => [
  id,
  what,
  fault,
  () => rawZip([SKILL, entry]),
  () => rawZip([SKILL, { ...entry, ...undone }]),
];
/** Bytes that are not an archive, but harmless inside of one. */
const noArchive = (what: string, bytes: Uint8Array): Broken => [
  'H17',
  what,
  'zip.format',
  () => bytes,
  () => rawZip([SKILL, { name: 'a', content: bytes }]),
];
const files = (count: number): RawZipEntry[] => Array.from({ length: count }, (_, index) => ({ name: `f${index}` }));
/** The field of an entry whose sizes need more than 32 bits. */
const zip64 = (...sizes: bigint[]): Buffer => extraField(1, Buffer.from(BigUint64Array.from(sizes).buffer));
/** Sizes that refer to the zip64 field. */
const ELSEWHERE = { size: 0xffff_ffff, packedSize: 0xffff_ffff };
const large = { name: 'a', content: 'x', ...ELSEWHERE, local: { size: 1, packedSize: 1 } };
const ONE_PART = rawZip([SKILL]);

const BROKEN: Broken[] = [
  ...[0xffff_fffe, 40 * MIB].map((size) =>
    broken(
      'H10',
      `ten bytes declared as ${size}`,
      'zip.size',
      { name: 'a', content: 'ten bytes.', method: 8, size },
      { size: 10 },
    ),
  ),
  ['H09', 'many entries of the same data', 'zip.overlap', () => overlapping(), () => overlapping(false)],
  [
    'H09',
    'an entry whose data is the directory of the archive',
    'zip.overlap',
    () => rawZip([SKILL, { name: 'a', content: 'x', packedSize: 20, size: 20 }]),
    () => rawZip([SKILL, { name: 'a', content: 'x' }]),
  ],
  ['H11', '70,000 entries', 'zip.entries', () => rawZip(files(70_000), { count: 4_464 }), () => rawZip(files(500))],
  ['H11', 'fewer entries than are declared', 'zip.format', () => rawZip([SKILL], { count: 3 }), () => ONE_PART],
  [
    'H11',
    'more entries than are declared',
    'zip.ambiguous',
    () => rawZip(files(2), { count: 1 }),
    () => rawZip(files(2), { count: 2 }),
  ],
  broken(
    'H13',
    'an encrypted entry',
    'zip.encrypted',
    { name: 'a', content: 'x'.repeat(20), flags: 0x801 },
    { flags: 0x800 },
  ),
  broken(
    'H13',
    'an entry of strong encryption',
    'zip.encrypted',
    { name: 'a', content: 'x'.repeat(20), flags: 0x841 },
    { flags: 0x800 },
  ),
  broken('H13', 'LZMA', 'zip.method', { name: 'a', content: 'x', method: 14 }, { method: 0 }),
  broken('H13', 'zstd', 'zip.method', { name: 'a', content: 'x', method: 93 }, { method: 0 }),
  ['H13', 'one part of several', 'zip.disks', () => rawZip([SKILL], { disk: 1 }), () => rawZip([SKILL], { disk: 0 })],
  broken('H14', 'zip64 sizes that are missing', 'zip.zip64', large, { extra: zip64(1n, 1n) }),
  ...[2n ** 53n, 2n ** 60n, 2n ** 64n - 1n].flatMap((size) => [
    broken('H14', `a size of ${size}`, 'zip.zip64', { ...large, extra: zip64(size, 1n) }, { extra: zip64(1n, 1n) }),
    broken(
      'H14',
      `a packed size of ${size}`,
      'zip.zip64',
      { ...large, extra: zip64(1n, size) },
      { extra: zip64(1n, 1n) },
    ),
  ]),
  broken(
    'H14',
    'a size just below 2^53',
    'zip.size',
    { ...large, extra: zip64(2n ** 53n - 1n, 1n) },
    { extra: zip64(1n, 1n) },
  ),
  noArchive('nothing', Buffer.alloc(0)),
  noArchive('gzip', gzipSync('text')),
  noArchive('TAR', rawTar([SKILL])),
  noArchive('a web page', Buffer.from('<!doctype html><title>Not found</title>')),
  ...[1, 21, 22, 23, 1_000, 100_000].map((length) => noArchive(`${length} random bytes`, randomBytes(length))),
  [
    'H17',
    'random bytes after the beginning of an archive',
    'zip.format',
    () => Buffer.concat([ONE_PART.subarray(0, 30), randomBytes(500)]),
    () => ONE_PART,
  ],
  ['H17', 'an archive of 22 bytes, without entries', 'zip.format', () => rawZip([]), () => ONE_PART],
  ['H17', 'an archive that is cut off', 'zip.format', () => ONE_PART.subarray(0, -30), () => ONE_PART],
  broken(
    'H18',
    'invalid deflate data',
    'zip.data',
    { name: 'a', content: 'abc', method: 8, packed: Buffer.from([7, 255, 1, 2, 3]) },
    { packed: deflateRawSync('abc') },
  ),
  broken(
    'H15',
    'a folder that is a file in its local header',
    'zip.header',
    { name: 'a/', mode: 0o040_755, local: { name: 'a.' } },
    { local: {} },
  ),
];

describe('hostile archives', () => {
  it.each(CASES)('%s %s', async (_id, _what, fault, without, archive) => {
    const bytes = archive();
    expect(await come(bytes)).toBe(fault);
    expect(await come(bytes, without), 'without this check').toBeInstanceOf(Array);
  });

  it.each(BROKEN)('%s %s', async (_id, _what, fault, archive, undone) => {
    expect(await come(archive())).toBe(fault);
    expect(await come(undone()), 'without this fault').toBeInstanceOf(Array);
  });

  it.each([
    ['H08', 'zeros of 10 GiB that are declared as 49 MiB', 49 * MIB],
    ['H10', 'zeros of 10 GiB that are declared as ten bytes', 10],
  ])('%s %s end at the declared size', async (_id, _what, size) => {
    const bytes = rawZip([SKILL, { name: 'bomb', method: 8, packed: endlessZeros(9.5 * MIB), size, crc: 0 }]);
    await readZip(rawZip([SKILL]));
    globalThis.gc?.();
    const before = forgetPeak(process.pid);
    expect(await come(bytes)).toBe('zip.size');
    expect((peakMemory(process.pid) - before) / MIB).toBeLessThan(32);
  });

  it('H12 are unpacked without the archives inside of them', async () => {
    const inner = rawZip([{ name: '../evil', content: 'x' }]);
    const { tree } = await readZip(
      rawZip([SKILL, { name: 'inner.zip', content: inner }, { name: 'b.gz', content: gzipSync('x') }]),
    );
    expect(tree.get('inner.zip')?.bytes).toEqual(inner);
    expect([...tree.keys()]).toEqual(['SKILL.md', 'inner.zip', 'b.gz']);
  });

  it('H19 keep only the executable bit of a mode', async () => {
    const { tree } = await readZip(
      rawZip([
        SKILL,
        { name: 'setuid', mode: 0o106_755 },
        { name: 'open', mode: 0o101_666 },
        { name: 'none', mode: 0 },
      ]),
    );
    expect([...tree].map(([path, { executable }]) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['setuid', true],
      ['open', false],
      ['none', false],
    ]);
  });

  it('H20 may use property names of objects without changing any object', async () => {
    const names = ['__proto__/x', 'constructor', 'toString'];
    expect(await come(rawZip(names.map((name) => ({ name, content: name }))))).toEqual(names);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('H21 lose the files that tools read on their own, and list them', async () => {
    const names = [
      '.git/hooks/pre-commit',
      'a/.GIT/config',
      'git~1/x',
      '.npmrc',
      'node_modules/a/index.js',
      '.env',
      '._a',
      'b/.DS_Store',
      '__MACOSX/x',
    ];
    const { tree, leftOut } = await readZip(rawZip([SKILL, { name: '.hidden' }, ...names.map((name) => ({ name }))]));
    expect([...tree.keys()]).toEqual(['SKILL.md', '.hidden']);
    expect(leftOut).toEqual(names);
  });
});

/** Deflate data of zeros from one repeated block; it inflates to about a thousand times its size. */
function endlessZeros(bytes: number): Buffer {
  const options = { level: 9, finishFlush: constants.Z_FULL_FLUSH };
  const block = deflateRawSync(Buffer.alloc(MIB), options);
  return Buffer.concat([...Array.from({ length: Math.floor(bytes / block.length) }, () => block), deflateRawSync('')]);
}
