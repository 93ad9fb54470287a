import { extname } from 'node:path';
import type { Language, LanguageDefinition } from '../contracts/jobs/language.ts';
import { languages } from './languages.ts';
import { readShebang, type Shebang } from '../contracts/text/shebang.ts';

/** Language and interpreter of a script of a skill. */
export interface ScriptInterpreter {
  language: Language;
  /** The interpreter in the script's first line and its relevant options; empty if the language decides alone. */
  interpreter: string[];
}

/** The language of scripts with `uv run --script` in the first line: their requirements are checked, nothing is installed. */
const UV_LANGUAGE: Language = 'python';
/** Shell options that change how a script runs, but not which script; a last letter `o` is followed by a name. */
const SHELL_OPTION = /^-(?=.)[abefhkmntuvxBCEHPT]*o?$/;

/**
 * Finds the interpreter of a script: from its first line, else from the ending of its name. A first line with an unknown interpreter
 * gives `undefined`, even if the ending is known.
 *
 * @param path path of the script, in any folder
 * @param code beginning of the script, at least the first line
 */
export function scriptInterpreter(path: string, code: string): ScriptInterpreter | undefined {
  const shebang = readShebang(code);
  if (shebang === undefined) {
    const ending = extname(path).toLowerCase();
    const byEnding = languages().find(({ endings }) => Object.hasOwn(endings, ending));
    return byEnding === undefined ? undefined : { language: byEnding.name, interpreter: [] };
  }
  if (runsByUv(shebang)) return { language: UV_LANGUAGE, interpreter: [] };
  const named = languages().find(({ shebangs }) => shebangs.includes(shebang.interpreter));
  return named === undefined ? undefined : { language: named.name, interpreter: interpreterWords(named, shebang) };
}

function runsByUv({ interpreter, options }: Shebang): boolean {
  return interpreter === 'uv' && options[0] === 'run' && options.some((word) => word === '--script' || word === '-s');
}

/** Only shell options are kept, because they affect the script itself: `-e` in the first line means `set -e`. */
function interpreterWords({ reads }: LanguageDefinition, { interpreter, options }: Shebang): string[] {
  if (reads !== 'strings') return [];
  const words = [interpreter];
  for (let index = 0; index < options.length; index += 1) {
    const option = options[index] ?? '';
    const name = option.endsWith('o') ? options[(index += 1)] : '';
    if (!SHELL_OPTION.test(option) || name === undefined) break;
    words.push(option, ...(name === '' ? [] : [name]));
  }
  return words;
}
