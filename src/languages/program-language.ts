import { extname } from 'node:path';
import { DEFAULT_LANGUAGE, type Language } from '../contracts/jobs/language.ts';
import { languages } from './languages.ts';
import { readShebang } from '../contracts/text/shebang.ts';

/**
 * The default language of a program: from the ending of its file, else from the interpreter in its first line. Code without a
 * file name and without such a line is JavaScript.
 *
 * @param fileName absent if the code has no file name
 * @returns `undefined` if the ending or the first line names an unknown language
 */
export function programLanguage(code: string, fileName?: string): Language | undefined {
  const ending = extname(fileName ?? '').toLowerCase();
  const byEnding = languages().find(({ endings }) => Object.hasOwn(endings, ending));
  if (byEnding !== undefined) return byEnding.name;
  const shebang = readShebang(code);
  if (shebang !== undefined) return languages().find(({ shebangs }) => shebangs.includes(shebang.interpreter))?.name;
  return fileName === undefined ? DEFAULT_LANGUAGE : undefined;
}
