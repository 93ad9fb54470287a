import { isSkillFileName } from '../skills/load/files/skill-file-name.ts';
import { binaryKind, type BinaryKind } from './text/binary-kind.ts';
import { codeRanges } from '../skills/render/code-ranges.ts';
import { commentRanges } from './text/comment-ranges.ts';
import { type EscapedValue, escapedValues } from './text/escaped-values.ts';
import { foldForScan, type FoldedText } from './text/fold-for-scan.ts';
import { codeOfMarkup, isMarkup } from './text/markup-code.ts';
import { rangeLookup, type TextRange } from './text/text-ranges.ts';
import { type WordSieve, wordSieve } from './text/word-sieve.ts';
import { isAscii } from '../skills/text/words/ascii.ts';

/** One file as the rules see it. */
export interface ScannedFile {
  path: string;
  /** The name in lower case, without folders. */
  name: string;
  /** The ending in lower case, with its dot; empty without one. */
  ending: string;
  bytes: Uint8Array;
  executable: boolean;
  /** Kind by its first bytes; undefined for a text. */
  binary: BinaryKind | undefined;
  /** With LF as line end, also for CR, and without a byte order mark. For a file that is not text: its readable parts. */
  text: string;
  /** Whether `text` is the whole file in its real encoding. */
  isText: boolean;
  isMarkdown: boolean;
  isSkillFile: boolean;
  /** Whether `text` holds only ASCII. */
  isAscii: boolean;
  folded: FoldedText;
  /** The folded text that is searched for commands; for HTML and XML, only its code. Computed on demand. */
  commands(): string;
  /** Whether it is Markdown or plain text, which people and models read as it is. */
  isProse: boolean;
  /** Whether an offset of the folded text is in code of Markdown. Computed on demand. */
  isInCode(at: number): boolean;
  /** Whether a word is in the folded text. */
  holds: WordSieve;
  /** Range of the frontmatter of a SKILL.md; empty for other files. */
  frontMatter: TextRange;
  /** In order. Searched again on each call, since there may be as many as lines. */
  comments(): Iterable<TextRange>;
  /** Whether an offset lies in a comment. */
  isInComment(at: number): boolean;
  /** Values of the frontmatter that are written with escapes, as YAML resolves them. Computed on demand. */
  escaped(): readonly EscapedValue[];
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
const UTF16 = {
  le: new TextDecoder('utf-16le', { ignoreBOM: true }),
  be: new TextDecoder('utf-16be', { ignoreBOM: true }),
};
/** Endings of Markdown files. */
const MARKDOWN: ReadonlySet<string> = new Set(['.md', '.markdown', '.mdx']);
const PLAIN: ReadonlySet<string> = new Set(['', '.txt', '.text', '.prompt', '.rst', '.adoc']);

/** Reads a file of a skill; for binary files, it reads the readable parts. */
export function scannedFile(
  path: string,
  { bytes, executable }: { bytes: Uint8Array; executable: boolean },
): ScannedFile {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.')) : '';
  const binary = binaryKind(path, bytes);
  const decoded = binary === undefined ? decodeWhole(bytes) : undefined;
  const text = lineEnds((decoded ?? readable(bytes, binary !== undefined)).replace(/^\ufeff/, ''));
  const isSkillFile = isSkillFileName(name);
  // A UTF-8 text with as many units as bytes is ASCII.
  const ascii = (decoded !== undefined && text.length === bytes.length) || isAscii(text);
  const folded = foldForScan(text, ascii);
  const frontMatter = isSkillFile ? frontMatterRange(text) : { start: 0, end: 0 };
  let isInComment: ((at: number) => boolean) | undefined;
  let escaped: readonly EscapedValue[] | undefined;
  let commands: string | undefined;
  let isInCode: ((at: number) => boolean) | undefined;
  return {
    path,
    name,
    ending,
    bytes,
    executable,
    binary,
    text,
    isText: decoded !== undefined,
    isMarkdown: MARKDOWN.has(ending),
    isProse: MARKDOWN.has(ending) || PLAIN.has(ending),
    isSkillFile,
    isAscii: ascii,
    folded,
    commands: () => (commands ??= isMarkup(ending, text) ? codeOfMarkup(folded.text) : folded.text),
    isInCode: (at) => (isInCode ??= rangeLookup(MARKDOWN.has(ending) ? codeRanges(folded.text) : []))(at),
    holds: wordSieve(folded.text),
    frontMatter,
    comments: () => commentRanges(path, text),
    isInComment: (at) => (isInComment ??= rangeLookup(commentRanges(path, text)))(at),
    escaped: () => (escaped ??= escapedValues(text, frontMatter)),
  };
}

/** A line that is text from beginning to end, so that a shell could run it. */
const LINE_OF_TEXT = /^[^\p{Cc}\ufffd]{8,}$/u;
// oxlint-disable-next-line no-control-regex -- the pattern looks for bytes that no text holds
const NO_TEXT = /[\x01-\x08\x0e-\x1a\x1c-\x1f]/;

/** The readable parts of bytes that are not UTF-8: whole lines of a picture or other binary file, or all of a text in another encoding. */
function readable(bytes: Uint8Array, isKnown: boolean): string {
  const text = lenient.decode(bytes).replaceAll('\0', '');
  if (!isKnown && !NO_TEXT.test(text)) return text;
  const lines = lineEnds(text).split('\n');
  return lines.map((line) => (LINE_OF_TEXT.test(line.replaceAll('\t', ' ')) ? line : '')).join('\n');
}

function lineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

function decodeWhole(bytes: Uint8Array): string | undefined {
  const wide =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'be' : undefined;
  if (wide !== undefined && bytes.length % 2 === 0) return UTF16[wide].decode(bytes);
  if (bytes.includes(0)) return undefined;
  try {
    return strict.decode(bytes);
  } catch {
    // Not UTF-8: the file is listed as not read completely.
    return undefined;
  }
}

function frontMatterRange(text: string): TextRange {
  if (!text.startsWith('---')) return { start: 0, end: 0 };
  const close = text.indexOf('\n---', 3);
  return close < 0 ? { start: 0, end: 0 } : { start: 0, end: close };
}
