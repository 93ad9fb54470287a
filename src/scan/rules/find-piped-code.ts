import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { isInterpreter, runsItsInput, shellCommand, type ShellCommand } from '../text/shell-command.ts';
import { pipelinesOf, type PipeStage } from '../text/shell-statements.ts';

/** Words of commands and functions that fetch. */
const FETCHING_WORDS = [
  'curl',
  'wget',
  'iwr',
  'irm',
  'invoke-webrequest',
  'invoke-restmethod',
  'downloadstring',
  'downloadfile',
  'aria2c',
  'lynx',
  'http',
  'fetch',
  'requests.',
  'urlopen',
  'urlretrieve',
];
const DECODING_WORDS = ['base64', 'base32', 'xxd', 'openssl', 'uudecode'];
const FETCHES =
  /(?<![\w.-])(?:curl|wget2?|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c|lynx|https?|fetch)(?:\.exe)?(?=\s|$)|\.download(?:string|file|data)\s{0,4}\(/;
/** Words of commands that turn text into bytes again. */
const DECODES =
  /(?<![\w./-])(?:base64|base32|gbase64)\s(?:[^\n]*\s)?(?:-[a-z]*d[a-z]*|--decode)(?=\s|$)|(?<![\w./-])xxd\s[^\n]*-[a-z]*r|(?<![\w./-])openssl\s[^\n]*\s-d(?=\s|$)|(?<![\w./-])uudecode(?=\s|$)/;
const SUBSTITUTION =
  /(?:<\(|\$\(|`|&\s{0,4}\{|\(|")\s{0,4}(?:sudo\s{1,4})?(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|\(?new-object)(?=\s|$)|\.downloadstring\s{0,4}\(/g;
/** What runs a text that it is given. */
const RUNS_TEXT: ReadonlySet<string> = new Set(['eval', 'source', '.', 'exec', 'iex', 'invoke-expression']);
/** In a program: what runs a text as code, or as a command. */
const EVALUATES =
  /(?<![\w.])(?:exec|eval|execfile|new function|compile|(?:os\.)?(?:system|popen)|subprocess\.\w{1,20}|execsync|child_process\.\w{1,20}|vm\.run\w{0,20})\s{0,4}\(/g;
const EVALUATING_WORDS = [
  'exec',
  'eval',
  'new function',
  'compile',
  'system',
  'popen',
  'subprocess',
  'vm.run',
  'child_process',
];
const FETCHES_IN_PROGRAM =
  /\brequests\s{0,4}\.\s{0,4}(?:get|post|request)\s{0,4}\(|\burlopen\s{0,4}\(|\bhttpx\s{0,4}\.\s{0,4}get\s{0,4}\(|(?<![\w.])fetch\s{0,4}\(|\baxios\b|\bb64decode\s{0,4}\(|(?<![\w.])atob\s{0,4}\(|\bbuffer\.from\s{0,4}\([^)\n]{1,400}["']base64|\bbytes\.fromhex\s{0,4}\(|\bmarshal\.loads\s{0,4}\(|\bzlib\.decompress\s{0,4}\(/;

const PIPED = 'What is fetched goes straight into an interpreter.';
const DECODED = 'What is decoded goes straight into an interpreter.';

/** Finds code that is run as it comes from the network or out of a code, and files that are fetched and then run. */
export function findPipedCode({ folded: { text, offsetOf }, holds, isMarkdown }: ScannedFile): FoundInFile[] {
  const found: FoundInFile[] = [];
  const add = (code: 'scan.pipe-to-shell' | 'scan.download-and-run', message: string, at: number): void => {
    found.push({ code, message, at: offsetOf(at) });
  };
  if (FETCHING_WORDS.some(holds) || DECODING_WORDS.some(holds)) {
    const fetched = new Map<string, number>();
    const isWanted = (line: string): boolean =>
      fetched.size > 0 || FETCHES.test(line) || DECODES.test(line) || line.includes('downloadstring');
    for (const pipeline of pipelinesOf(text, isMarkdown, isWanted)) {
      const [first] = pipeline;
      if (first === undefined) continue;
      const message = pipedMessage(pipeline) ?? substitutionMessage(pipeline);
      if (message !== undefined) add('scan.pipe-to-shell', message, startOf(first));
      for (const stage of pipeline) {
        const command = shellCommand(stage.text);
        if (command === undefined) continue;
        const run = fileThatRuns(command, fetched);
        if (run !== undefined) add('scan.download-and-run', 'A file that was fetched above is run.', startOf(stage));
      }
      for (const name of writtenFiles(pipeline)) fetched.set(name, first.at);
    }
  }
  found.push(
    ...(EVALUATING_WORDS.some(holds) ? evaluated(text) : []).map((at): FoundInFile => ({
      code: 'scan.pipe-to-shell',
      message: PIPED,
      at: offsetOf(at),
    })),
  );
  return found;
}

function startOf({ text, at }: PipeStage): number {
  return at + text.length - text.trimStart().length;
}

function pipedMessage(pipeline: readonly PipeStage[]): string | undefined {
  let message: string | undefined;
  for (const { text } of pipeline) {
    const command = message === undefined ? undefined : shellCommand(text);
    if (command !== undefined && runsItsInput(command)) return message;
    if (message === undefined && FETCHES.test(text)) message = PIPED;
    else if (message === undefined && DECODES.test(text)) message = DECODED;
  }
  return undefined;
}

/** `sh -c "$(curl …)"`, `. <(curl …)`, `iex (irm …)`: looks at the words before what fetches. */
function substitutionMessage(pipeline: readonly PipeStage[]): string | undefined {
  for (const { text } of pipeline) {
    for (const { index } of text.matchAll(SUBSTITUTION)) {
      if (wordsBefore(text, index).some((word) => isInterpreter(word) || RUNS_TEXT.has(word))) return PIPED;
    }
  }
  return undefined;
}

/** The few words before an offset, the nearest first, without options. */
function wordsBefore(text: string, end: number): string[] {
  const near = text.slice(Math.max(0, end - 80), end);
  const words = near.split(/[\s"'`(&{<]+/).filter((word) => word !== '' && !word.startsWith('-'));
  return words.slice(-1).map((word) => word.slice(word.lastIndexOf('/') + 1));
}

/** Files that a pipeline writes what it fetched to. */
function writtenFiles(pipeline: readonly PipeStage[]): string[] {
  const whole = pipeline.map(({ text }) => text).join(' ');
  if (!FETCHES.test(whole)) return [];
  const names: string[] = [];
  for (const [, name = ''] of whole.matchAll(
    /(?:\s-o|\s--output(?:=|\s)|\s--output-document(?:=|\s)|\s-outfile|>)\s{0,4}["']?([\w./~$-]{1,200})/g,
  ))
    names.push(name);
  // Without a name of its own, the file has that of the address.
  if (/\swget\s|^\s*(?:\$ |sudo )?wget\s|\s-[a-z]*o(?:\s|$)|\s--remote-name/.test(whole))
    for (const [, name = ''] of whole.matchAll(/https?:\/\/[^\s"'`?#]*\/([\w.-]{1,200})/g)) names.push(name);
  return names.map(baseName).filter((name) => name.length > 1 && name !== 'null');
}

function fileThatRuns(
  { name, arguments: given }: ShellCommand,
  fetched: ReadonlyMap<string, number>,
): string | undefined {
  if (fetched.size === 0) return undefined;
  if (fetched.has(name)) return name;
  if (!isInterpreter(name) && name !== 'source' && name !== '.' && name !== 'pip' && name !== 'pip3') return undefined;
  return given.map(baseName).find((word) => fetched.has(word));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Where a program evaluates something that it fetches or decodes in the same call. */
function evaluated(text: string): number[] {
  const places: number[] = [];
  let judged = 0;
  for (const { index, 0: call } of text.matchAll(EVALUATES)) {
    if (index < judged) continue;
    judged = closingParenthesis(text, index + call.length);
    if (FETCHES_IN_PROGRAM.test(text.slice(index + call.length, judged))) places.push(index);
  }
  return places;
}

/** The most characters of one call that are looked at as one; a longer one is looked at in pieces. */
const CALL_LENGTH = 4_000;

function closingParenthesis(text: string, from: number): number {
  const end = Math.min(text.length, from + CALL_LENGTH);
  for (let at = from, open = 1; at < end; at += 1) {
    if (text[at] === '(') open += 1;
    else if (text[at] === ')' && (open -= 1) === 0) return at;
  }
  return end;
}
