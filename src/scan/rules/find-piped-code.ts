import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { baseName, commandTokens, type CommandToken } from '../text/commands/command-tokens.ts';
import { decodes, fetchedFiles, fetcherIn, FETCHING_WORDS } from '../text/commands/fetching.ts';
import { isInterpreter, runsItsInput, shellCommand, type ShellCommand } from '../text/commands/shell-command.ts';
import { pipelinesOf, type PipeStage } from '../text/commands/shell-statements.ts';

const PIPED = 'Fetched data goes straight into an interpreter.';
const DECODED = 'Decoded data goes straight into an interpreter.';
const RUN = 'A file that was fetched above is run.';

/** Finds commands that run fetched or decoded data, and files that are fetched and then run. */
export function* findPipedCode(file: ScannedFile): Generator<FoundInFile> {
  const { holds, isMarkdown } = file;
  const { offsetOf } = file.folded;
  const words = FETCHING_WORDS.filter(holds);
  if (words.length === 0) return;
  /** Names of files that were fetched so far. */
  const fetched = new Set<string>();
  const isWanted = (line: string): boolean => fetched.size > 0 || words.some((word) => line.includes(word));
  for (const pipeline of pipelinesOf(file.commands(), isMarkdown, isWanted)) {
    const [first] = pipeline;
    if (first === undefined) continue;
    const stages = pipeline.map((stage) => {
      const tokens = commandTokens(stage.text);
      return { ...stage, tokens, fetcher: fetcherIn(stage.text, tokens) };
    });
    const message = pipedMessage(stages) ?? (stages.some(substitutes) ? PIPED : undefined);
    if (message !== undefined) yield { code: 'scan.pipe-to-shell', message, at: offsetOf(startOf(first)) };
    for (const stage of fetched.size === 0 ? [] : stages) {
      const command = shellCommand(stage.text);
      if (command !== undefined && runsFile(command, fetched))
        yield { code: 'scan.download-and-run', message: RUN, at: offsetOf(startOf(stage)) };
    }
    if (stages.some(({ fetcher }) => fetcher >= 0))
      for (const { text: line, tokens, fetcher } of stages)
        for (const name of fetchedFiles(line, tokens, fetcher)) fetched.add(name);
  }
}

type TokenStage = PipeStage & {
  tokens: readonly CommandToken[];
  /** Index of the fetching word, or -1. */
  fetcher: number;
};

function startOf({ text, at }: PipeStage): number {
  return at + text.length - text.trimStart().length;
}

function pipedMessage(stages: readonly TokenStage[]): string | undefined {
  let message: string | undefined;
  for (const { text, tokens, fetcher } of stages) {
    const command = message === undefined ? undefined : shellCommand(text);
    if (command !== undefined && runsItsInput(command)) return message;
    if (message === undefined && fetcher >= 0) message = PIPED;
    else if (message === undefined && decodes(tokens)) message = DECODED;
  }
  return undefined;
}

/** Commands that run a text, besides interpreters. */
const RUNS_TEXT: ReadonlySet<string> = new Set(['eval', 'source', '.', 'exec', 'iex', 'invoke-expression']);
/** Words that may stand between the running and the fetching word. */
const BETWEEN: ReadonlySet<string> = new Set(['sudo', 'new-object', 'net.webclient', 'system.net.webclient', '$']);
const NEAR = 5;

/** `sh -c "$(curl …)"`, `. <(curl …)`, `iex (irm …)`: the running word stands before the fetching word and opens a group. */
function substitutes({ text, tokens, fetcher }: TokenStage): boolean {
  return tokens.some((token, index) => {
    if (index !== fetcher) return false;
    const before = tokens
      .slice(Math.max(0, index - NEAR), index)
      .findLast(({ word }) => !word.startsWith('-') && !BETWEEN.has(word));
    if (before === undefined) return false;
    const name = baseName(before.word);
    if (!isInterpreter(name) && !RUNS_TEXT.has(name)) return false;
    return /[(`]/.test(text.slice(before.at + before.word.length, token.at));
  });
}

/** A program file of an interpreter; later words are its data. */
const PROGRAM_FILE = /[./]/;
const INSTALLERS: ReadonlySet<string> = new Set(['pip', 'pip3']);

function runsFile({ name, inFolder, arguments: given }: ShellCommand, fetched: ReadonlySet<string>): boolean {
  // A single letter may also be a word of prose.
  if (fetched.has(name) && (name.length > 1 || inFolder)) return true;
  const words = given.filter((word) => !word.startsWith('-'));
  const isFetched = (word: string): boolean => fetched.has(baseName(word));
  if (INSTALLERS.has(name)) return words.some((word) => isFetched(word) && baseName(word).length > 1);
  if (!isInterpreter(name) && !['source', '.'].includes(name)) return false;
  const program = words.find((word) => isFetched(word) || PROGRAM_FILE.test(word));
  return program !== undefined && isFetched(program) && (baseName(program).length > 1 || program === words[0]);
}
