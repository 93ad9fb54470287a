import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { baseName, commandTokens, type CommandToken } from '../text/command-tokens.ts';
import { decodes, fetchedFiles, FETCHING_WORDS, isFetcher } from '../text/fetching.ts';
import { isInterpreter, runsItsInput, shellCommand, type ShellCommand } from '../text/shell-command.ts';
import { pipelinesOf, type PipeStage } from '../text/shell-statements.ts';

const PIPED = 'What is fetched goes straight into an interpreter.';
const DECODED = 'What is decoded goes straight into an interpreter.';
const RUN = 'A file that was fetched above is run.';

/** Finds commands that run what comes from the network or out of a code, and files that are fetched and then run. */
export function* findPipedCode({ folded: { text, offsetOf }, holds, isMarkdown }: ScannedFile): Generator<FoundInFile> {
  const words = FETCHING_WORDS.filter(holds);
  if (words.length === 0) return;
  /** Names of files that were fetched so far. */
  const fetched = new Set<string>();
  const isWanted = (line: string): boolean => fetched.size > 0 || words.some((word) => line.includes(word));
  for (const pipeline of pipelinesOf(text, isMarkdown, isWanted)) {
    const [first] = pipeline;
    if (first === undefined) continue;
    const stages = pipeline.map((stage) => ({ ...stage, tokens: commandTokens(stage.text) }));
    const message = pipedMessage(stages) ?? (stages.some(substitutes) ? PIPED : undefined);
    if (message !== undefined) yield { code: 'scan.pipe-to-shell', message, at: offsetOf(startOf(first)) };
    for (const stage of fetched.size === 0 ? [] : stages) {
      const command = shellCommand(stage.text);
      if (command !== undefined && runsFile(command, fetched))
        yield { code: 'scan.download-and-run', message: RUN, at: offsetOf(startOf(stage)) };
    }
    for (const { text: line, tokens } of stages)
      if (stages.some((stage) => stage.tokens.some(isFetcher)))
        for (const name of fetchedFiles(line, tokens)) fetched.add(name);
  }
}

type TokenStage = PipeStage & { tokens: readonly CommandToken[] };

function startOf({ text, at }: PipeStage): number {
  return at + text.length - text.trimStart().length;
}

function pipedMessage(stages: readonly TokenStage[]): string | undefined {
  let message: string | undefined;
  for (const { text, tokens } of stages) {
    const command = message === undefined ? undefined : shellCommand(text);
    if (command !== undefined && runsItsInput(command)) return message;
    if (message === undefined && tokens.some(isFetcher)) message = PIPED;
    else if (message === undefined && decodes(tokens)) message = DECODED;
  }
  return undefined;
}

/** What runs a text that it is given, besides interpreters. */
const RUNS_TEXT: ReadonlySet<string> = new Set(['eval', 'source', '.', 'exec', 'iex', 'invoke-expression']);
/** Words that may stand between the two. */
const BETWEEN: ReadonlySet<string> = new Set(['sudo', 'new-object', 'net.webclient', 'system.net.webclient', '$']);
const NEAR = 5;

/** `sh -c "$(curl …)"`, `. <(curl …)`, `iex (irm …)`: what runs it stands before what fetches, and opens a group. */
function substitutes({ text, tokens }: TokenStage): boolean {
  return tokens.some((token, index) => {
    if (!isFetcher(token)) return false;
    const before = tokens
      .slice(Math.max(0, index - NEAR), index)
      .findLast(({ word }) => !word.startsWith('-') && !BETWEEN.has(word));
    if (before === undefined) return false;
    const name = baseName(before.word);
    if (!isInterpreter(name) && !RUNS_TEXT.has(name)) return false;
    return /[(`]/.test(text.slice(before.at + before.word.length, token.at));
  });
}

function runsFile({ name, inFolder, arguments: given }: ShellCommand, fetched: ReadonlySet<string>): boolean {
  // A letter alone is a word of prose as well.
  if (fetched.has(name) && (name.length > 1 || inFolder)) return true;
  if (!isInterpreter(name) && !['source', '.', 'pip', 'pip3'].includes(name)) return false;
  const first = given.find((word) => !word.startsWith('-'));
  return given.some((word) => fetched.has(baseName(word)) && (baseName(word).length > 1 || word === first));
}
