import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from './limits.ts';

/** The languages of this version. */
export type BuiltInLanguage = 'bash' | 'javascript' | 'python' | 'typescript';

/** A language: the name of its folder in `runtime/languages/`. These folders are the list of languages. */
export type Language = BuiltInLanguage | (string & Record<never, never>);

/** The language of a program without another hint. */
export const DEFAULT_LANGUAGE: Language = 'javascript';

/** Texts about a language in a codegen prompt. */
export interface LanguageGuide {
  /** Lines about the language itself; see `fillGuideRules`. */
  rules: string[];
  /** Expression for the output folder in a program. */
  outputFolder: string;
  /** How a program sets the job's value. */
  value: string;
  /** How a program calls a tool; absent if it cannot. */
  tools?: string | undefined;
  /** The language of the tool declarations for a model; absent if tools are listed with their schemas. */
  declarations?: 'typescript' | 'python' | undefined;
  /** How a program reads a file of a skill. */
  skillFiles: string;
}

/**
 * Fills in the rules of a guide: `{version}` of the interpreter, `{packages}` of the sandbox, and `{except}`, which
 * points to the job's own packages in the rules that follow. A job without packages of its own leaves it empty.
 */
export function fillGuideRules(
  rules: readonly string[],
  {
    version = '',
    packages = '',
    hasOwnPackages,
  }: { version?: string | undefined; packages?: string; hasOwnPackages: boolean },
): string[] {
  const values: Record<string, string> = {
    ...{ version, packages },
    except: hasOwnPackages ? ' except those listed next' : '',
  };
  return rules.map((rule) => rule.replace(/\{(version|packages|except)\}/g, (_, name: string) => values[name] ?? ''));
}

/** The query for the installed packages of an interpreter, and the prompt rules about them. */
export interface InstalledGuide {
  /** The interpreter's arguments. It prints `@ version`, then `name version` or `name` a line. */
  command: string[];
  /** Replaces `{version}` in the guide's rules where the interpreter gave no version. */
  version: string;
  /** The rule if packages are installed; they replace `{packages}`. */
  some: string;
  /** The rule if no packages are installed, or the interpreter did not answer. */
  none: string;
}

/** The variable that makes an interpreter load a file of skillcell before its main program. The file waits for the program. */
export interface LanguageHold {
  variable: string;
  /** The variable's value; `%hold%` is the path of `file`, and `%heapMib%` has the same meaning as in `command`. */
  value: string;
  file: string;
  /** The separator between this value and the run's own value of the same variable. */
  joint: string;
}

/** The definition of one language, from `runtime/languages/<name>/language.json`. */
export interface LanguageDefinition {
  /** Name of the folder. */
  name: Language;
  /** Name of the language as people write it. */
  title: string;
  /** Endings of programs, each with the ending of the sandbox's copy. A program without an ending gets the first one. */
  endings: Record<string, string>;
  /** Interpreters that a program's first line may name, without folder and minor version. */
  shebangs: string[];
  /** Paths of the interpreter; the first existing path is used. Absent if skillcell's own Node is the interpreter. */
  interpreters?: string[] | undefined;
  /**
   * The interpreter's arguments. `./` and `../` start at the language's folder; `%program%` is the path of the program, and `%heapMib%`
   * a limit for an interpreter's own heap, a little above the memory that the program may hold.
   */
  command: string[];
  /** Makes the interpreter wait for a program during its own start-up; absent if `command` names an executor that runs programs itself. */
  hold?: LanguageHold | undefined;
  /** True if the interpreter needs the program's path at its start. A program of another name then gets an interpreter of its own. */
  namedAtStart?: true | undefined;
  /**
   * Variables that the interpreter reads only when it starts; a name that ends in `*` stands for all names with that beginning. A run that
   * sets such a variable gets an interpreter of its own, started with it.
   */
  readsAtStart?: string[] | undefined;
  /** The form of messages to the executor: JSON, or NUL-terminated strings. */
  reads: 'json' | 'strings';
  /**
   * Name of the interpreter that stays open in a session. Languages with the same name share the interpreter and its definitions. Absent if
   * no interpreter can stay open.
   */
  session?: string | undefined;
  /** The program that serves a session. A held interpreter runs it like any other program. */
  sessionProgram?: string | undefined;
  /** `lf` if the interpreter takes a carriage return and a byte order mark as parts of a word; both are then removed. */
  lineEnds?: 'lf' | undefined;
  /** True if the executor answers `check` with the unmet requirements of a script. */
  requirements?: true | undefined;
  /** Tags of code blocks that hold a program, the prompt's own tag first. A later list counts only if no tag of an earlier list is found. */
  codeTags: string[][];
  guide: LanguageGuide;
  /** Absent if the interpreter has no list of packages. */
  installed?: InstalledGuide | undefined;
  /** Debian packages by image flavor; `slim` goes into every image. */
  imagePackages: Record<string, string[]>;
}

/** The name of the program in its working folder: the caller's name, with an ending that fixes the language. */
export function programFileName({ endings }: LanguageDefinition, given = 'main'): string {
  const dot = given.lastIndexOf('.');
  const base = dot < 0 ? given : given.slice(0, dot);
  const ending = dot < 0 ? undefined : endings[given.slice(dot).toLowerCase()];
  return `${base || 'main'}${ending ?? Object.values(endings)[0] ?? ''}`;
}

/** The path of a language's interpreter: the first of its paths that exists, or `undefined`. */
export function findInterpreter({ interpreters }: LanguageDefinition, ownNode: string): string | undefined {
  return interpreters === undefined ? ownNode : interpreters.find((path) => existsSync(path));
}

/** Path and variables at the start of an executor. */
export interface ExecutorStart {
  /** Path of the program, or {@link waitingProgram} if the program is not known yet. */
  program: string;
  /** Variables that the interpreter reads when it starts. */
  env: Readonly<Record<string, string>>;
  /** Working folder at the start, for relative paths in the variables; absent for an executor that starts before there is a program. */
  cwd?: string;
}

/** The default path of a program in a working folder. Executors that start ahead get this path. */
export function waitingProgram(definition: LanguageDefinition, workspace: string): string {
  return join(workspace, programFileName(definition));
}

/** The variables that an interpreter of this language reads only at its start. */
export function startVariables(
  { readsAtStart = [] }: LanguageDefinition,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const isRead = (name: string): boolean =>
    readsAtStart.some((given) => (given.endsWith('*') ? name.startsWith(given.slice(0, -1)) : name === given));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isRead(name)));
}

/**
 * The arguments of `env` that start a language's executor: its folder, the variables, then the command.
 *
 * @param interpreter absolute path
 * @param runtime path of the runtime bundle in the sandbox
 * @param memoryMib memory that the program may hold
 */
export function executorWords(
  definition: LanguageDefinition,
  interpreter: string,
  runtime: string,
  memoryMib: number,
  { program, env, cwd }: ExecutorStart,
): string[] {
  const { hold } = definition;
  const variables = { ...env };
  if (hold !== undefined) {
    const file = join(runtime, 'languages', definition.name, hold.file);
    const { [hold.variable]: own } = variables;
    const value = fillIn(
      hold.value.replace('%hold%', () => quotedPath(hold, file)),
      memoryMib,
    );
    // An empty variable counts as not set.
    variables[hold.variable] = own === undefined || own === '' ? value : `${value}${hold.joint}${own}`;
  }
  const words = interpreterCommand(definition, interpreter, runtime, memoryMib);
  return [
    ...(cwd === undefined ? [] : [`--chdir=${cwd}`]),
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    ...words.map((word) => word.replace('%program%', () => program)),
  ];
}

/** Quotes words as one text that a shell splits into the same words. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

/** A path as a part of a variable's value. If spaces separate the parts, a path with a space needs quotes. */
function quotedPath({ joint }: LanguageHold, path: string): string {
  return joint === ' ' && path.includes(' ') ? JSON.stringify(path) : path;
}

/** An interpreter and its arguments. */
export function interpreterCommand(
  { name, command }: Pick<LanguageDefinition, 'name' | 'command'>,
  interpreter: string,
  runtime: string,
  memoryMib: number = DEFAULT_LIMITS.memoryMib,
): [string, ...string[]] {
  const folder = join(runtime, 'languages', name);
  const words = command.map((word) => (/^\.\.?\//.test(word) ? join(folder, word) : word));
  return [interpreter, ...words.map((word) => fillIn(word, memoryMib))];
}

function fillIn(word: string, memoryMib: number): string {
  return word.replace('%heapMib%', `${heapMib(memoryMib)}`);
}

/** The interpreter's own limit is higher than the job's, so that the watch over memory ends the program first and the result names the cause. */
function heapMib(memoryMib: number): number {
  return memoryMib + Math.max(32, Math.round(memoryMib / 4));
}
