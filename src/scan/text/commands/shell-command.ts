/** The command of a stage: its name without folders, and its arguments. */
export interface ShellCommand {
  name: string;
  /** Whether the name was written with a folder. */
  inFolder: boolean;
  /** Whether its input becomes its arguments. */
  byXargs: boolean;
  arguments: readonly string[];
}

/** Commands that run another command, which follows them and their options. */
const CARRIERS: ReadonlySet<string> = new Set(
  'sudo doas env nohup exec command time nice setsid stdbuf busybox xargs then do else if while ! & builtin'.split(' '),
);
/** Options of carriers that take a value. */
const WITH_VALUE: ReadonlySet<string> = new Set([
  '-u',
  '-g',
  '-h',
  '-p',
  '-c',
  '-r',
  '-t',
  '-n',
  '-i',
  '-o',
  '--user',
  '--group',
]);
const ASSIGNMENT = /^[a-z_][a-z0-9_]*=/;
/** Characters before a command in prose, quotes and prompts. */
const OPENING = /^[\s`"'($>*{-]+/;
const WORD_BORDER = /\s+/;
/** Characters that end the code of a stage in prose. */
const CLOSING = /[`"')\]}*,]/;

/** The most words that are read: an interpreter that reads its input has few. */
const WORDS = 24;

/**
 * Reads the command of a stage of a pipeline, without the commands that only run it.
 *
 * @param stage text between pipes, in lower case
 */
export function shellCommand(stage: string): ShellCommand | undefined {
  const words = firstWords(stage.replace(OPENING, ''));
  let byXargs = false;
  while (words.length > 0) {
    const [word = ''] = words;
    if (ASSIGNMENT.test(word)) words.shift();
    else if (CARRIERS.has(baseName(word))) {
      byXargs ||= baseName(word) === 'xargs';
      words.shift();
      while (words[0]?.startsWith('-') === true || (words[0] !== undefined && ASSIGNMENT.test(words[0]))) {
        const option = words.shift() ?? '';
        if (WITH_VALUE.has(option)) words.shift();
      }
    } else break;
  }
  const [name, ...rest] = words;
  if (name === undefined) return undefined;
  const inFolder = name.includes('/');
  const ended = CLOSING.exec(name);
  if (ended !== null) return { name: baseName(name.slice(0, ended.index)), inFolder, byXargs, arguments: [] };
  const end = rest.findIndex((word) => CLOSING.test(word));
  const last = end < 0 ? undefined : upToClosing(rest[end] ?? '');
  const kept = end < 0 ? rest : [...rest.slice(0, end), ...(last === undefined || last === '' ? [] : [last])];
  return { name: baseName(name), inFolder, byXargs, arguments: kept };
}

function upToClosing(word: string): string {
  return word.slice(0, Math.max(0, word.search(CLOSING)));
}

function firstWords(text: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < text.length && words.length < WORDS) {
    while (at < text.length && WORD_BORDER.test(text[at] ?? '')) at += 1;
    let end = at;
    while (end < text.length && !WORD_BORDER.test(text[end] ?? '')) end += 1;
    if (end > at) words.push(text.slice(at, end));
    at = end;
  }
  return words;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

const INTERPRETERS =
  /^(?:(?:ba|z|da|k|a|fi|c|tc|mk)?sh|python[23]?(?:\.\d{1,2})?|pypy3?|node|deno|bun|perl|ruby|php|pwsh|powershell|iex|invoke-expression|osascript|lua|tclsh|rscript)(?:\.exe)?$/;
/** Options with which the code is an argument and the input is data. */
const DATA_OPTIONS = /^-(?:-eval|-execute|-print|-version|-help|[a-z]*[cemnp])(?:$|=)/;

/** An option that takes code. */
const CODE_OPTION = /^-[a-z]*[ce]$/;
/** Nothing, or a placeholder for a line of the input; a closing quote or brace may have been cut off. */
const STANDS_FOR_INPUT = /^["']?(?:$|\{|%|@)/;

/** Whether a command is an interpreter, with any arguments. */
export function isInterpreter(name: string): boolean {
  return INTERPRETERS.test(name);
}

/** Whether a command runs its input as code. */
export function runsItsInput(command: ShellCommand): boolean {
  const { name, byXargs, arguments: given } = command;
  if ((name === 'source' || name === '.') && given[0] === '/dev/stdin') return true;
  if (!isInterpreter(name)) return false;
  for (const [index, word] of given.entries()) {
    if (byXargs && CODE_OPTION.test(word) && STANDS_FOR_INPUT.test(given[index + 1] ?? '')) return true;
    if (word === '-' || word === '/dev/stdin' || /^-[a-z]*s$/.test(word)) return true;
    if (/^\d?[<>&]/.test(word) || word === '&') return true;
    if (DATA_OPTIONS.test(word)) return false;
    // The program is in a file, so the input is its data.
    if (!word.startsWith('-') && !/^(?:run|eval)$/.test(word)) return !/[./]|^\w+$/.test(word);
  }
  return true;
}
