/** Kind of a binary file by its first bytes. */
export interface BinaryKind {
  /** For people. */
  name: string;
  /** `code` runs; `bytecode` runs too and has a source of the same name; `data` is for people or programs. */
  kind: 'code' | 'bytecode' | 'archive' | 'office' | 'data';
}

interface Signature extends BinaryKind {
  /** Bytes in Latin-1. */
  bytes: string;
  at?: number;
}

const SIGNATURES: readonly Signature[] = [
  { bytes: '\x7fELF', name: 'a program or library (ELF)', kind: 'code' },
  { bytes: 'MZ', name: 'a program or library of Windows', kind: 'code' },
  { bytes: '\xfe\xed\xfa\xce', name: 'a program or library of macOS', kind: 'code' },
  { bytes: '\xfe\xed\xfa\xcf', name: 'a program or library of macOS', kind: 'code' },
  { bytes: '\xce\xfa\xed\xfe', name: 'a program or library of macOS', kind: 'code' },
  { bytes: '\xcf\xfa\xed\xfe', name: 'a program or library of macOS', kind: 'code' },
  { bytes: '\xca\xfe\xba\xbe', name: 'bytecode of Java, or a program of macOS', kind: 'code' },
  { bytes: '\0asm', name: 'WebAssembly', kind: 'code' },
  { bytes: 'dex\n', name: 'bytecode of Android', kind: 'code' },
  { bytes: '\x1bLua', name: 'bytecode of Lua', kind: 'code' },
  { bytes: '!<arch>\n', name: 'a library, or a package of Debian', kind: 'code' },
  { bytes: 'PK\x03\x04', name: 'a ZIP archive', kind: 'archive' },
  { bytes: 'PK\x05\x06', name: 'a ZIP archive', kind: 'archive' },
  { bytes: '\x1f\x8b', name: 'data packed by gzip', kind: 'archive' },
  { bytes: 'BZh', name: 'data packed by bzip2', kind: 'archive' },
  { bytes: '\xfd7zXZ\0', name: 'data packed by xz', kind: 'archive' },
  { bytes: '\x28\xb5\x2f\xfd', name: 'data packed by zstd', kind: 'archive' },
  { bytes: '7z\xbc\xaf\x27\x1c', name: 'a 7z archive', kind: 'archive' },
  { bytes: 'Rar!\x1a\x07', name: 'a RAR archive', kind: 'archive' },
  { bytes: 'MSCF', name: 'a CAB archive', kind: 'archive' },
  { bytes: 'ustar', at: 257, name: 'a TAR archive', kind: 'archive' },
  { bytes: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', name: 'a document or installer of Windows', kind: 'office' },
  { bytes: '%PDF-', name: 'a PDF', kind: 'data' },
  { bytes: '\x89PNG\r\n\x1a\n', name: 'an image (PNG)', kind: 'data' },
  { bytes: '\xff\xd8\xff', name: 'an image (JPEG)', kind: 'data' },
  { bytes: 'GIF8', name: 'an image (GIF)', kind: 'data' },
  { bytes: 'RIFF', name: 'an image, sound or film (RIFF)', kind: 'data' },
  { bytes: '\0\0\x01\0', name: 'an icon', kind: 'data' },
  { bytes: '\0\x01\0\0\0', name: 'a font (TrueType)', kind: 'data' },
  { bytes: 'OTTO', name: 'a font (OpenType)', kind: 'data' },
  { bytes: 'wOFF', name: 'a font (WOFF)', kind: 'data' },
  { bytes: 'wOF2', name: 'a font (WOFF2)', kind: 'data' },
  { bytes: 'SQLite format 3\0', name: 'a database (SQLite)', kind: 'data' },
  { bytes: 'PAR1', name: 'a table (Parquet)', kind: 'data' },
  { bytes: 'OggS', name: 'a sound or film (Ogg)', kind: 'data' },
  { bytes: 'ID3', name: 'a sound (MP3)', kind: 'data' },
  { bytes: 'fLaC', name: 'a sound (FLAC)', kind: 'data' },
  { bytes: 'ftyp', at: 4, name: 'a film or image (MPEG-4)', kind: 'data' },
];

const LONGEST = 262;
/** A version number in two bytes, carriage return, line feed, and flags from 0 to 3. */
// oxlint-disable-next-line no-control-regex -- the pattern matches bytes
const PYTHON_BYTECODE = /^[\x00-\xff]{2}\r\n[\x00-\x03]\x00{3}/;
const OFFICE_NAMES = /\.(?:doc|dot|xls|xlt|ppt|pot|pps)[xm]$|\.od[tsp]$|\.xlsb$/;

/**
 * Finds the kind of a file by its first bytes, and that of a packed document also by its name.
 *
 * @returns undefined for possible text and for unknown formats
 */
export function binaryKind(path: string, bytes: Uint8Array): BinaryKind | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, LONGEST)).toString('latin1');
  if (PYTHON_BYTECODE.test(head)) return { name: 'bytecode of Python', kind: 'bytecode' };
  const found = SIGNATURES.find(({ bytes: wanted, at = 0 }) => head.startsWith(wanted, at));
  if (found === undefined) return undefined;
  const { name, kind } = found;
  if (kind === 'archive' && OFFICE_NAMES.test(path.toLowerCase()))
    return { name: 'a document of an office program', kind: 'office' };
  return { name, kind };
}
