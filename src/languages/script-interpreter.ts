import { extname } from 'node:path';
import type { Language, LanguageDefinition } from '../contracts/jobs/language.ts';
import { languages } from './languages.ts';
import { readShebang, type Shebang } from '../contracts/text/shebang.ts';

/** What runs a script of a skill. */
export interface ScriptInterpreter {
  language: Language;
  /** The interpreter that the script's first line names, and the options there that count; empty where it names none. */
  interpreter: string[];
}

/** What runs the scripts that name it as `uv run --script`: their requirements are checked, nothing is installed. */
const UV_LANGUAGE: Language = 'python';
/** Options of a shell that change how a script runs, and not what is run; the last letter may ask for a name. */
const SHELL_OPTION = /^-(?=.)[abefhkmntuvxBCEHPT]*o?$/;

/**
 * Says what runs a script: the interpreter in its first line, else the ending of its name. A first line that names another
 * interpreter is none of ours, whatever the name ends with.
 *
 * @param path of the script, in any folder
 * @param code its beginning, at least the first line
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

/** Only a shell's options say how the script itself runs: `set -e` is as often in the first line as in the second. */
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
