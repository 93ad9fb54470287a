import { readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Diagnostic, diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import { readShebang } from '../../src/contracts/text/shebang.ts';
import { listNames } from '../../src/skills/text/list-names.ts';
import { withLineFeeds } from './fitting-line-ends.ts';

/** Number of files that a diagnostic names, and length of each name. */
const NAMED = 3;
const NAME_CHARACTERS = 100;
/** Longest first line that names an interpreter. */
const FIRST_LINE_BYTES = 256;
/** The byte order mark of UTF-8, read byte by byte. */
const MARK = '\u00EF\u00BB\u00BF';

/**
 * The bytes of a file in the form that the language's interpreter reads, if its ending or first line makes it a program of that language: programs
 * in it run and source such files. A file with a zero byte is not only text, for instance a self-extracting archive, and stays unchanged.
 *
 * @returns `undefined` if the file fits unchanged
 */
export function fitFile(
  language: LanguageDefinition,
  path: string,
  file: Uint8Array,
): { bytes: Uint8Array; lines: number } | undefined {
  if (language.lineEnds !== 'lf') return undefined;
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (!isProgramOf(language, path, bytes) || bytes.includes(0)) return undefined;
  // Byte by byte, so that bytes that are not UTF-8 stay.
  const given = bytes.toString('latin1');
  const { text, lines } = withLineFeeds(given.startsWith(MARK) ? given.slice(MARK.length) : given);
  return text.length === given.length ? undefined : { bytes: Buffer.from(text, 'latin1'), lines };
}

function isProgramOf({ endings, shebangs }: LanguageDefinition, path: string, bytes: Buffer): boolean {
  if (Object.hasOwn(endings, extname(path).toLowerCase())) return true;
  const shebang = readShebang(bytes.toString('utf8', 0, FIRST_LINE_BYTES));
  return shebang !== undefined && shebangs.includes(shebang.interpreter);
}

/** Fits files below a folder, in place. Returns the paths of the files whose lines changed. */
export function fitFilesBelow(language: LanguageDefinition, folder: string, paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const fit = fitFile(language, path, readFileSync(join(folder, path)));
    if (fit !== undefined) writeFileSync(join(folder, path), fit.bytes);
    return fit !== undefined && fit.lines > 0;
  });
}

/** Reports the files whose copies in the sandbox have other line ends. */
export function tellFitted({ title }: LanguageDefinition, paths: readonly string[]): Diagnostic[] {
  if (paths.length === 0) return [];
  const named = listNames(paths, NAMED, (path) => path.slice(0, NAME_CHARACTERS));
  const message = `Lines of ${named} end with a carriage return, which ${title} takes for part of a word; the copies in the sandbox are without them.`;
  return [diagnostic('program.line-ends', message)];
}
