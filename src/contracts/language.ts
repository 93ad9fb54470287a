import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from './limits.ts';

/** The languages of this version. */
export type BuiltInLanguage = 'bash' | 'javascript' | 'python' | 'typescript';

/** A language that an executor runs: the name of its folder in `runtime/languages/`. Which there are, the folders say. */
export type Language = BuiltInLanguage | (string & Record<never, never>);

/** The language of a program that says nothing of its own. */
export const DEFAULT_LANGUAGE: Language = 'javascript';

/** What a codegen prompt says of a language. */
export interface LanguageGuide {
  /** Lines on the language itself. */
  rules: string[];
  /** What names the output folder to a program. */
  outputFolder: string;
  /** How a program sets the job's value. */
  value: string;
  /** How a program calls a tool; absent where it cannot. */
  tools?: string | undefined;
  /** In what its tools are declared to a model; absent where they are listed with their schemas. */
  declarations?: 'typescript' | 'python' | undefined;
  /** How a program reads a file of a skill. */
  skillFiles: string;
}

/** How a language's interpreter is asked what programs find beside the standard library, and what the prompt says of it. */
export interface InstalledGuide {
  /** The interpreter's arguments. It prints `@ version`, then `name version` or `name` a line. */
  command: string[];
  /** Stands for `{version}` in the guide's rules where the interpreter said none. */
  version: string;
  /** The rule where there are packages, which stand for `{packages}`. */
  some: string;
  /** The rule where there are none, or the interpreter did not answer. */
  none: string;
}

/** The variable by which an interpreter loads a file of ours before its main program, which then waits for the program. */
export interface LanguageHold {
  variable: string;
  /** Its value; `%hold%` is the path of `file`, and `%heapMib%` as in a command. */
  value: string;
  file: string;
  /** Stands between this value and one that the run has for the same variable. */
  joint: string;
}

/** All that skillcell knows of one language: the file `runtime/languages/<name>/language.json`. */
export interface LanguageDefinition {
  /** Name of the folder. */
  name: Language;
  /** As people write it. */
  title: string;
  /** Endings of programs, and which one the sandbox's copy gets. The first stands for a program without one. */
  endings: Record<string, string>;
  /** Interpreters that a program's first line may name, without folder and minor version. */
  shebangs: string[];
  /** Places of the interpreter, the first that exists is used; absent where skillcell's own Node is the interpreter. */
  interpreters?: string[] | undefined;
  /**
   * The interpreter's arguments. `./` and `../` start at the language's folder; `%program%` is the path of the program, and `%heapMib%`
   * a limit for an interpreter's own heap, a little above the memory that the program may hold.
   */
  command: string[];
  /** How the interpreter is held in its own start-up until there is a program; absent where `command` names an executor that runs programs itself. */
  hold?: LanguageHold | undefined;
  /** Whether the interpreter needs the program's path when it starts: a program of another name gets an interpreter of its own. */
  namedAtStart?: true | undefined;
  /**
   * Variables that the interpreter reads only when it starts; `*` ends a name that stands for all with that beginning. A run that sets one
   * gets an interpreter of its own, started with it.
   */
  readsAtStart?: string[] | undefined;
  /** What the executor reads: messages in JSON, or NUL-terminated strings. */
  reads: 'json' | 'strings';
  /**
   * Which interpreter stays open in a session: languages of one name share theirs, and what is defined there. Absent where none
   * can stay open.
   */
  session?: string | undefined;
  /** The program that serves a session, which a held interpreter runs as any other. */
  sessionProgram?: string | undefined;
  /** How lines have to end where the interpreter takes a carriage return, and a byte order mark, for part of a word. */
  lineEnds?: 'lf' | undefined;
  /** Whether the executor says which of a script's requirements are not met, when it is asked to `check` it. */
  requirements?: true | undefined;
  /** Tags of code blocks that hold a program, the prompt's own first. A later list counts where no earlier one is found. */
  codeTags: string[][];
  guide: LanguageGuide;
  /** Absent where there is nothing to ask. */
  installed?: InstalledGuide | undefined;
  /** Debian packages by image flavor; `slim` goes into every image. */
  imagePackages: Record<string, string[]>;
}

/** The name of the program in its working folder: the caller's own, with an ending that fixes the language. */
export function programFileName({ endings }: LanguageDefinition, given = 'main'): string {
  const dot = given.lastIndexOf('.');
  const base = dot < 0 ? given : given.slice(0, dot);
  const ending = dot < 0 ? undefined : endings[given.slice(dot).toLowerCase()];
  return `${base || 'main'}${ending ?? Object.values(endings)[0] ?? ''}`;
}

/** Where the interpreter of a language stands: the first of its places that exists, or `undefined`. */
export function findInterpreter({ interpreters }: LanguageDefinition, ownNode: string): string | undefined {
  return interpreters === undefined ? ownNode : interpreters.find((path) => existsSync(path));
}

/** What an executor is started for. */
export interface ExecutorStart {
  /** Path of the program; where it is not known yet, {@link waitingProgram}. */
  program: string;
  /** Variables that the interpreter reads when it starts. */
  env: Readonly<Record<string, string>>;
  /** Where it starts, to which relative paths in its variables are relative; absent for one that waits before there is a program. */
  cwd?: string;
}

/** The path that a program without a name of its own gets in a working folder; executors that start ahead are started for it. */
export function waitingProgram(definition: LanguageDefinition, workspace: string): string {
  return join(workspace, programFileName(definition));
}

/** The variables of an environment that an interpreter of this language reads only when it starts. */
export function startVariables(
  { readsAtStart = [] }: LanguageDefinition,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const isRead = (name: string): boolean =>
    readsAtStart.some((given) => (given.endsWith('*') ? name.startsWith(given.slice(0, -1)) : name === given));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isRead(name)));
}

/**
 * The words that start a language's executor, for `env`: its folder, variables, then the command.
 *
 * @param interpreter absolute path
 * @param runtime the runtime bundle as the sandbox sees it
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
    // One that is empty counts as not set.
    variables[hold.variable] = own === undefined || own === '' ? value : `${value}${hold.joint}${own}`;
  }
  const words = interpreterCommand(definition, interpreter, runtime, memoryMib);
  return [
    ...(cwd === undefined ? [] : [`--chdir=${cwd}`]),
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    ...words.map((word) => word.replace('%program%', () => program)),
  ];
}

/** Words as one text that a shell takes apart again. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

/** A path as a part of a variable's value: where blanks stand between parts, one with a blank needs quotes. */
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

/** An interpreter that ends at a limit of its own says nothing that could be judged: the watch over its memory comes first. */
function heapMib(memoryMib: number): number {
  return memoryMib + Math.max(32, Math.round(memoryMib / 4));
}
