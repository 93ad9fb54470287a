import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { randomBytes } from '../fixtures/archives/random-bytes.ts';
import type { ArchiveRefusal } from '../../src/archives/checks/archive-refused.ts';
import { readTar, type ReadTarOptions } from '../../src/archives/tar/read-tar.ts';
import { attributes, longName, rawTar, rawTarGz, type RawTarEntry } from '../fixtures/archives/raw-tar.ts';

const SKILL = { name: 'SKILL.md', content: '---\nname: a\ndescription: A.\n---\nBody.\n' };
const MIB = 1024 * 1024;
type Check = NonNullable<ReadTarOptions['without']>;

/** The code of the refusal, or the paths of the files. */
async function come(bytes: Uint8Array, without?: Check): Promise<string | string[]> {
  return await readTar(bytes, { without }).then(
    ({ tree }) => [...tree.keys()],
    (error: ArchiveRefusal) => error.fault ?? String(error.stack),
  );
}

type Case = [id: string, what: string, check: Check, archive: () => Uint8Array];
const tar = (id: string, what: string, check: Check, ...entries: RawTarEntry[]): Case => [
  id,
  what,
  check,
  () => rawTarGz([SKILL, ...entries]),
];
const zeros = Buffer.alloc(1024);
/** 2^60, in the form of some programs for sizes over 33 bits. */
const HUGE = Buffer.from('800000000000100000000000', 'hex');
/** A valid archive, followed by more bytes. */
const behind = (more: Uint8Array): Buffer => Buffer.concat([rawTarGz([SKILL]), more]);

const CASES: Case[] = [
  ...['../../evil', 'a/../../b', '..\\..\\evil', 'C:/x', '/abs', '//x', 'a//b', '././a', 'a/.'].map((name) =>
    tar('H01', JSON.stringify(name), 'name', { name }),
  ),
  tar('H01', 'a path from attributes', 'name', attributes([['path', '../evil']]), { name: 'a' }),
  tar('H01', "a path from GNU's long name", 'name', longName('../evil'), { name: 'a', magic: 'ustar  \0' }),
  tar('H01', 'a path from a prefix', 'name', { name: 'evil', prefix: '..' }),
  tar('H02', 'a link', 'link', { name: 'link', type: '2', link: '/etc' }),
  tar('H02', 'a hard link', 'link', { name: 'a', type: '1', link: '/etc/passwd' }),
  tar('H02', 'a character device', 'link', { name: 'a', type: '3' }),
  tar('H02', 'a block device', 'link', { name: 'a', type: '4' }),
  tar('H02', 'a fifo', 'link', { name: 'a', type: '6' }),
  tar('H02', 'a sparse file of GNU', 'link', { name: 'a', type: 'S', magic: 'ustar  \0' }),
  tar('H02', 'a part of another archive', 'link', { name: 'a', type: 'M', magic: 'ustar  \0' }),
  tar('H03', 'a SKILL.md that is a link', 'link', { name: 'b/SKILL.md', type: '2', link: '/etc/passwd' }),
  tar('H04', 'two entries with the same name', 'duplicate', { name: 'a', content: '1' }, { name: './a', content: '2' }),
  ...(
    [
      ['A', 'a'],
      ['é', 'e\u0301'],
      ['straße', 'strasse'],
      ['ｆｕｌｌ', 'full'],
      ['A/x', 'a/y'],
    ] as const
  ).map(([a, b]) => tar('H05', `${a} and ${b}`, 'collision', { name: a }, { name: b })),
  ...['trailing.', 'trailing ', 'CON', 'a:b'].map((name) => tar('H05', JSON.stringify(name), 'name', { name })),
  ...['a\nb', 'a\u001b[31mb', 'a\u202eb', 'a\u200bb'].map((name) => tar('H06', JSON.stringify(name), 'name', { name })),
  tar('H06', 'a name over 255 bytes', 'name', attributes([['path', 'x'.repeat(256)]]), { name: 'a' }),
  tar('H06', 'a path of 17 names', 'name', longName(`${'x/'.repeat(16)}y`), { name: 'a', magic: 'ustar  \0' }),
  tar('H06', 'a name with a NUL', 'name', attributes([['path', 'a\0b']]), { name: 'a' }),
  tar('H06', 'a name that is not UTF-8', 'name', { name: Buffer.from([0x61, 0xff]) }),
  tar('H07', 'a file and a folder with the same name', 'file-folder', { name: 'a' }, { name: 'a/b' }),
  [
    'H08',
    'more than 50 MiB as declared',
    'size',
    () => rawTarGz([SKILL, { name: 'bomb', content: Buffer.alloc(51 * MIB) }]),
  ],
  ['H11', '501 entries', 'entries', () => rawTarGz(Array.from({ length: 501 }, (_, index) => ({ name: `f${index}` })))],
  tar('H15', 'a size in attributes that differs', 'header', attributes([['size', '1']]), { name: 'a', content: '12' }),
  tar('H15', 'a sparse file by attributes', 'header', attributes([['GNU.sparse.major', '1']]), SKILL2()),
  tar('H15', 'another set of characters', 'header', attributes([['hdrcharset', 'BINARY']]), SKILL2()),
  tar(
    'H15',
    'a key that occurs twice',
    'header',
    attributes([
      ['path', 'a'],
      ['path', 'b'],
    ]),
    SKILL2(),
  ),
  tar('H15', 'a path for all following entries', 'header', attributes([['path', 'a']], 'g'), SKILL2()),
  tar('H15', 'attributes with a false length', 'header', { name: 'x', type: 'x', content: '10 path=ab' }, SKILL2()),
  tar('H15', 'an empty path', 'header', attributes([['path', '']]), SKILL2()),
  tar('H15', 'a file with the name of a folder', 'header', attributes([['path', 'a/']]), { name: 'a', content: 'x' }),
  tar('H15', 'a name in two forms', 'ambiguous', longName('a'), attributes([['path', 'b']]), { name: 'c' }),
  tar('H15', 'a long name twice', 'ambiguous', longName('a'), longName('b'), { name: 'c', magic: 'ustar  \0' }),
  tar('H15', 'attributes twice', 'ambiguous', attributes([['path', 'a']]), attributes([['mtime', '1']]), { name: 'c' }),
  [
    'H16',
    'a second archive after the end',
    'ambiguous',
    () => gzipSync(Buffer.concat([rawTar([SKILL]), rawTar([SKILL2()])])),
  ],
  [
    'H16',
    'an entry after one block of zeros',
    'ambiguous',
    () => rawTarGz([SKILL], { end: Buffer.concat([zeros.subarray(512), rawTar([SKILL2()])]) }),
  ],
  ['H16', 'a second member of gzip', 'ambiguous', () => behind(rawTarGz([SKILL2()]))],
  ['H16', 'bytes after gzip', 'ambiguous', () => behind(Buffer.from('more'))],
  ['H16', 'zeros after gzip', 'ambiguous', () => behind(zeros)],
  ['H17', 'an archive without an end', 'ambiguous', () => rawTarGz([SKILL], { end: Buffer.alloc(0) })],
  ['H17', 'an archive with half an end', 'ambiguous', () => rawTarGz([SKILL], { end: Buffer.alloc(512) })],
  ['H16', 'a name without an entry', 'ambiguous', () => rawTarGz([SKILL, attributes([['path', 'a']])])],
  [
    'H18',
    'another checksum',
    'checksum',
    () => {
      const bytes = rawTarGz([SKILL]);
      bytes.writeUInt32LE(7, bytes.length - 8);
      return bytes;
    },
  ],
];

/** The same bytes with one changed byte; a negative offset counts from the end. */
function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at < 0 ? changed.length + at : at] = value;
  return changed;
}

function SKILL2(): RawTarEntry {
  return { name: 'b', content: 'b' };
}

/** Archives that no option of `without` accepts. Without the one fault, the same archive is accepted. */
type Broken = [id: string, what: string, fault: string, archive: () => Uint8Array, undone: () => Uint8Array];
const broken = (id: string, what: string, fault: string, entry: RawTarEntry, undone: Partial<RawTarEntry>): Broken => [
  id,
  what,
  fault,
  () => rawTarGz([SKILL, entry]),
  () => rawTarGz([SKILL, { ...entry, ...undone }]),
];
/** Bytes that are not an archive, but harmless inside of one. */
const noArchive = (what: string, fault: string, bytes: Uint8Array): Broken => [
  'H17',
  what,
  fault,
  () => bytes,
  () => rawTarGz([SKILL, { name: 'a', content: bytes }]),
];
const cut = (what: string, archive: () => Uint8Array): Broken => ['H17', what, 'tar.format', archive, () => WHOLE];
const files = (count: number): RawTarEntry[] => Array.from({ length: count }, (_, index) => ({ name: `f${index}` }));
const WHOLE = rawTarGz([SKILL]);
const random = randomBytes(1_000);

const BROKEN: Broken[] = [
  broken('H10', 'a declared size of 8 GiB', 'tar.size', { name: 'a', size: 2 ** 33 - 1 }, { size: 0 }),
  broken(
    'H10',
    'a size over the present bytes',
    'tar.format',
    { name: 'a', size: 40 * MIB, content: 'x' },
    { size: 1 },
  ),
  broken('H10', 'a negative size', 'tar.header', { name: 'a', size: '-0000000001' }, { size: '00000000000' }),
  broken('H10', 'a size of base 256', 'tar.header', { name: 'a', size: '\u0080' }, { size: '0' }),
  broken('H10', 'a mode that is not a number', 'tar.header', { name: 'a', mode: 'rw-r--r' }, { mode: 0o644 }),
  [
    'H11',
    '501 entries, followed by an invalid one',
    'tar.entries',
    () => rawTarGz([...files(501), { name: 'a', size: '-1' }]),
    () => rawTarGz(files(500)),
  ],
  [
    'H02',
    'a sparse file, followed by an invalid entry',
    'tar.link',
    () => rawTarGz([SKILL, { name: 'a', type: 'S', magic: 'ustar  \0' }, { name: 'b', size: '-1' }]),
    () => rawTarGz([SKILL, { name: 'a', magic: 'ustar  \0' }, { name: 'b' }]),
  ],
  [
    'H08',
    'harmless attributes of 65 KiB',
    'tar.header',
    () => rawTarGz([SKILL, attributes([['comment', 'x'.repeat(65 * 1024)]]), SKILL2()]),
    () => rawTarGz([SKILL, attributes([['comment', 'x'.repeat(63 * 1024)]]), SKILL2()]),
  ],
  ['H18', 'a false size in gzip', 'tar.checksum', () => withByte(rawTarGz([SKILL]), -1, 7), () => WHOLE],
  ['H17', 'an unknown flag of gzip', 'tar.format', () => withByte(rawTarGz([SKILL]), 3, 0x20), () => WHOLE],
  broken('H14', 'a size over 2^53, of base 256', 'tar.header', { name: 'a', size: HUGE }, { size: '0' }),
  [
    'H14',
    'a size over 2^53 in attributes',
    'tar.header',
    () => rawTarGz([SKILL, attributes([['size', String(2n ** 60n)]]), { name: 'a' }]),
    () => rawTarGz([SKILL, attributes([['size', '0']]), { name: 'a' }]),
  ],
  broken(
    'H10',
    'a folder with data',
    'tar.header',
    { name: 'a/', type: '5', content: 'x'.repeat(512) },
    { name: 'a', type: '0' },
  ),
  [
    'H08',
    'zeros without an end',
    'tar.size',
    () => rawTarGz([SKILL], { end: Buffer.alloc(40 * MIB) }),
    () => rawTarGz([SKILL], { end: Buffer.alloc(10_240) }),
  ],
  broken(
    'H08',
    'attributes of 40 MiB',
    'tar.header',
    { name: 'a', type: 'x', content: Buffer.alloc(40 * MIB) },
    { type: '0' },
  ),
  noArchive('nothing', 'tar.format', Buffer.alloc(0)),
  noArchive('two bytes', 'tar.format', Buffer.from([0x1f, 0x8b])),
  noArchive('a text', 'tar.format', gzipSync('text')),
  noArchive('a web page', 'tar.header', gzipSync('<p>'.repeat(300))),
  noArchive('random bytes', 'tar.format', random),
  noArchive('random bytes after the header of gzip', 'tar.checksum', Buffer.concat([WHOLE.subarray(0, 10), random])),
  noArchive('random bytes that gzip has packed', 'tar.header', gzipSync(random)),
  ['H17', 'no entries', 'tar.format', () => rawTarGz([]), () => WHOLE],
  ['H17', 'another format of headers', 'tar.format', () => rawTarGz([{ ...SKILL, magic: '' }]), () => WHOLE],
  ['H17', 'a false checksum of a header', 'tar.format', () => rawTarGz([{ ...SKILL, checksum: 7 }]), () => WHOLE],
  cut('an archive that is cut off', () => WHOLE.subarray(0, -9)),
  cut('a trailer that is cut off', () => WHOLE.subarray(0, -1)),
  cut('cut within a file', () => gzipSync(rawTar([SKILL]).subarray(0, 600))),
  [
    'H13',
    'an unknown method of gzip',
    'tar.format',
    () => Buffer.concat([WHOLE.subarray(0, 2), Buffer.from([7]), WHOLE.subarray(3)]),
    () => WHOLE,
  ],
];

describe('hostile archives', () => {
  it.each(CASES)('%s %s (TAR)', async (_id, _what, check, archive) => {
    const bytes = archive();
    expect(await come(bytes)).toBe(`tar.${check}`);
    expect(await come(bytes, check), 'without this check').toBeInstanceOf(Array);
  });

  it.each(BROKEN)('%s %s (TAR)', async (_id, _what, fault, archive, undone) => {
    expect(await come(archive())).toBe(fault);
    expect(await come(undone()), 'without this fault').toBeInstanceOf(Array);
  });

  it('H19 keep only the executable bit of a mode (TAR)', async () => {
    const { tree } = await readTar(
      rawTarGz([
        SKILL,
        { name: 'setuid', mode: 0o6_755 },
        { name: 'open', mode: 0o1_666 },
        { name: 'd/', type: '5', mode: 0o777 },
      ]),
    );
    expect([...tree].map(([path, { executable }]) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['setuid', true],
      ['open', false],
    ]);
  });

  it('are read if gzip has a field, a name, a comment and a checksum before the data (TAR)', async () => {
    const packed = rawTarGz([SKILL]);
    const header = Buffer.concat([
      packed.subarray(0, 3),
      Buffer.from([2 + 4 + 8 + 16]),
      packed.subarray(4, 10),
      // The field contains a NUL, which ends a name.
      Buffer.from([3, 0, 0, 1, 0]),
      Buffer.from('name\0comment\0'),
    ]);
    const checksum = Buffer.alloc(2);
    checksum.writeUInt16LE(crc32(header) % 2 ** 16);
    expect(await come(Buffer.concat([header, checksum, packed.subarray(10)]))).toEqual(['SKILL.md']);
  });

  it('H20 may use property names of objects without changing any object (TAR)', async () => {
    const names = ['__proto__/x', 'constructor', 'toString'];
    const entries = [attributes([['comment', 'x']]), ...names.map((name) => ({ name, content: name }))];
    expect(await come(rawTarGz(entries))).toEqual(names);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
