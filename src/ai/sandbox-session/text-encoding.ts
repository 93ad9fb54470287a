import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Texts are kept as they are, or refused: a byte or a character that an encoding lacks would become another one. */
interface TextEncoding {
  decode(bytes: Uint8Array): string;
  /** Undefined if the encoding cannot write the text. */
  encode(text: string): Uint8Array | undefined;
}

const unicode = (label: string, write: (text: string) => Uint8Array): TextEncoding => ({
  // A byte order mark stays, so that a text is written back unchanged.
  decode: (bytes) => new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes),
  encode: (text) => (/\p{Surrogate}/u.test(text) ? undefined : write(text)),
});
const oneByte = (most: number): TextEncoding => ({
  decode(bytes) {
    if (bytes.some((byte) => byte > most)) throw new TypeError('a byte that is no character');
    return Buffer.from(bytes).toString('latin1');
  },
  encode: (text) =>
    Array.from(text).every((character) => (character.codePointAt(0) ?? 0) <= most)
      ? Buffer.from(text, 'latin1')
      : undefined,
});

const UTF8 = unicode('utf-8', (text) => Buffer.from(text));
const UTF16 = unicode('utf-16le', (text) => Buffer.from(text, 'utf16le'));
const LATIN1 = oneByte(0xff);
const ASCII = oneByte(0x7f);
const ENCODINGS = new Map<string, TextEncoding>([
  ...['utf-8', 'utf8'].map((name): [string, TextEncoding] => [name, UTF8]),
  ...['utf-16le', 'utf16le', 'ucs-2', 'ucs2'].map((name): [string, TextEncoding] => [name, UTF16]),
  ...['latin1', 'iso-8859-1'].map((name): [string, TextEncoding] => [name, LATIN1]),
  ...['ascii', 'us-ascii'].map((name): [string, TextEncoding] => [name, ASCII]),
]);

/**
 * Reads a text.
 *
 * @throws SkillcellError `file.unreadable` if the bytes are no text of the encoding, `options.invalid` for an unknown encoding
 */
export function decodeBytes(bytes: Uint8Array, path: string, name = 'utf-8'): string {
  const encoding = encodingOf(name, 'read a text file');
  try {
    return encoding.decode(bytes);
  } catch {
    const message = `Cannot read a text file: its bytes are no ${name}, got ${JSON.stringify(path)}.`;
    const hint = 'Read it with readBinaryFile, or with the encoding that it has.';
    throw new SkillcellError('file.unreadable', message, { hint });
  }
}

/**
 * Writes a text.
 *
 * @throws SkillcellError `options.invalid` if the encoding lacks a character of the text, or is unknown
 */
export function encodeText(text: string, path: string, name = 'utf-8'): Uint8Array {
  const bytes = encodingOf(name, 'write a text file').encode(text);
  if (bytes !== undefined) return bytes;
  const message = `Cannot write a text file: ${name} has not all of its characters, got ${JSON.stringify(path)}.`;
  throw new SkillcellError('options.invalid', message);
}

function encodingOf(name: string, action: string): TextEncoding {
  const encoding = ENCODINGS.get(name.toLowerCase());
  if (encoding !== undefined) return encoding;
  const known = 'utf-8, utf-16le, latin1 or ascii';
  const message = `Cannot ${action}: encoding must be ${known}, got ${JSON.stringify(name)}.`;
  throw new SkillcellError('options.invalid', message);
}
