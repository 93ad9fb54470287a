import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findInterpreter, interpreterCommand, type LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import { compareCodePoints } from '../../src/skills/text/text.ts';

/** Packages that programs of a language find in addition to its standard library. */
export interface InstalledPackages {
  /** Version of the interpreter, two numbers; absent if it printed none. */
  version?: string;
  /** `name version`, or only the name, sorted by name. */
  packages: string[];
}

/** Folder, below the runtime bundle, of the lists that the image's build writes. */
export const LISTS_FOLDER = 'installed';
const ASK_MS = 10_000;
const MAX_ANSWER = 1024 * 1024;
const VERSION_LINE = /^@ (\d{1,4}\.\d{1,4})$/;
const PACKAGE_LINE = /^[A-Za-z0-9][\w.+-]{0,80}(?: [\w.+!~-]{1,40})?$/;

/**
 * The packages that the sandbox has for a language: the list of its image, else the interpreter's own answer.
 *
 * @returns `undefined` for a language whose interpreter lists no packages
 * @throws Error with the reason why there is no answer
 */
export async function installedPackages(
  runtime: string,
  definition: LanguageDefinition,
): Promise<InstalledPackages | undefined> {
  if (definition.installed === undefined) return undefined;
  const list = join(runtime, LISTS_FOLDER, definition.name);
  return parse(existsSync(list) ? readFileSync(list, 'utf8') : await askInterpreter(runtime, definition));
}

/** Lets the interpreter list its packages: a line `@ version`, then a line a package. */
export async function askInterpreter(runtime: string, definition: LanguageDefinition): Promise<string> {
  const interpreter = findInterpreter(definition, process.execPath) ?? definition.name;
  const asking = { ...definition, command: definition.installed?.command ?? [] };
  const [program, ...args] = interpreterCommand(asking, interpreter, runtime);
  const env = { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/' };
  const options = { cwd: '/', env, timeout: ASK_MS, maxBuffer: MAX_ANSWER };
  return (await promisify(execFile)(program, args, options)).stdout;
}

/** Of two packages with one name, programs import the first. Lines that are not plain names go into no prompt. */
function parse(text: string): InstalledPackages {
  const lines = text.split(/\r?\n/);
  const version = lines.map((line) => VERSION_LINE.exec(line)?.[1]).find((found) => found !== undefined);
  const byName = new Map<string, string>();
  for (const line of lines.filter((given) => PACKAGE_LINE.test(given))) {
    const name = (line.split(' ')[0] ?? '').toLowerCase();
    if (!byName.has(name)) byName.set(name, line);
  }
  const sorted = [...byName].sort(([a], [b]) => compareCodePoints(a, b));
  return { ...(version === undefined ? {} : { version }), packages: sorted.map(([, line]) => line) };
}
