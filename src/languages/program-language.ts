import { extname } from 'node:path';
import { DEFAULT_LANGUAGE, type Language } from '../contracts/jobs/language.ts';
import { languages } from './languages.ts';
import { readShebang } from '../contracts/text/shebang.ts';

/**
 * The language of a program whose caller names none: that of its file's ending, else that of the interpreter in its first
 * line. Code without a file and without such a line is JavaScript.
 *
 * @param fileName absent where the code came without one
 * @returns `undefined` where file name or first line name something else
 */
export function programLanguage(code: string, fileName?: string): Language | undefined {
  const ending = extname(fileName ?? '').toLowerCase();
  const byEnding = languages().find(({ endings }) => Object.hasOwn(endings, ending));
  if (byEnding !== undefined) return byEnding.name;
  const shebang = readShebang(code);
  if (shebang !== undefined) return languages().find(({ shebangs }) => shebangs.includes(shebang.interpreter))?.name;
  return fileName === undefined ? DEFAULT_LANGUAGE : undefined;
}
