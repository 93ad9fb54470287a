import { extname } from 'node:path';
import { DEFAULT_LANGUAGE, type Language } from '../contracts/language.ts';
import { languages } from './languages.ts';

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
  const interpreter = shebangInterpreter(code);
  if (interpreter !== undefined) return languages().find(({ shebangs }) => shebangs.includes(interpreter))?.name;
  return fileName === undefined ? DEFAULT_LANGUAGE : undefined;
}

/** `python3` of `#!/usr/bin/env -S LANG=C python3.11 -u`. */
function shebangInterpreter(code: string): string | undefined {
  const line = /^\uFEFF?#!([^\r\n]*)/.exec(code)?.[1];
  if (line === undefined) return undefined;
  const [program = '', ...words] = line.trim().split(/\s+/).map(baseName);
  const named = program === 'env' ? words.find((word) => !/^-|=/.test(word)) : program;
  return named?.replace(/(?:\.\d+)+$/, '') ?? '';
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
