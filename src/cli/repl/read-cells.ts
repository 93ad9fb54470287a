import { createInterface, type Interface } from 'node:readline';
import type { Language } from '../../contracts/jobs/language.ts';
import type { CliIo } from '../terminal/cli-io.ts';
import { isOpen } from './is-open.ts';

/** Reads standard input as the pieces of code to run. */
export interface CellReader extends AsyncIterable<string> {
  /** The language in which lines are read from now on. */
  language: Language;
  /** Stops the current run, at Ctrl-C in the terminal. Returns false if nothing runs; then the typed lines are discarded. */
  interrupt: () => boolean;
  /** Stops reading, and drops lines that were read already. */
  close(): void;
}

/**
 * Up to this length, in UTF-16 units, each line checks whether the piece is open, which scans all of it. A longer piece is checked when it has
 * grown by a part; whole statements within that part are run with it.
 */
const ASKED_LENGTH = 16 * 1024;
const ASKED_GROWTH = 1 + 1 / 16;

/** A line that continues a block of Python after an empty line. */
const CONTINUES_BLOCK = /^(?:\s|(?:elif|else|except|finally)\b)/;

/**
 * Reads standard input. A terminal has a prompt and a history, and an empty line ends an open piece. Other input is read like a file: empty lines
 * belong to the piece, and a block of Python ends at the next line that is not part of it.
 */
export function readCells(io: CliIo, language: Language, signal: AbortSignal): CellReader {
  const isTerminal = io.stdin.isTTY === true;
  const lines: Interface = createInterface({
    input: io.stdin,
    ...(isTerminal ? { output: io.stderr, terminal: true } : { crlfDelay: Infinity }),
  });
  let cell = '';
  /** A block of Python that is followed by an empty line, in input that is no terminal. */
  let block = '';
  /** Shorter pieces are not checked. */
  let askFrom = 0;
  let isLeft = false;
  let hasPrompt = isTerminal;
  const prompt = (): void => {
    if (!hasPrompt) return;
    lines.setPrompt(cell === '' ? `${reader.language}> ` : '... ');
    lines.prompt();
  };
  const close = (): void => {
    isLeft = true;
    lines.close();
  };
  const throwAway = (): void => {
    const hint = cell === '' && lines.line === '' ? '\n(Ctrl-D or .exit ends the session)' : '^C';
    lines.write(null, { ctrl: true, name: 'e' });
    lines.write(null, { ctrl: true, name: 'u' });
    io.stderr.write(`${hint}\n`);
    cell = '';
    askFrom = 0;
    prompt();
  };
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  // Lines that came before the end of the input are still read, but without a prompt.
  lines.on('close', () => (hasPrompt = false));
  lines.on('SIGINT', () => void (reader.interrupt() || throwAway()));

  async function* read(): AsyncGenerator<string> {
    prompt();
    for await (const line of lines) {
      if (isLeft) return;
      if (block !== '') {
        if (line.trim() === '') continue;
        if (CONTINUES_BLOCK.test(line)) cell = block;
        else yield block;
        block = '';
        // The consumer may have ended the reader meanwhile.
        if (isLeft) return;
      }
      const begun = cell !== '';
      cell = begun ? `${cell}\n${line}` : line;
      const isAsked = cell.length >= askFrom;
      const isBlank = begun && line.trim() === '';
      const ends = (isTerminal && isBlank) || (isAsked && !isOpen(reader.language, cell));
      if (isAsked) askFrom = cell.length < ASKED_LENGTH ? 0 : cell.length * ASKED_GROWTH;
      if (ends) {
        const whole = cell;
        cell = '';
        askFrom = 0;
        if (!isTerminal && isBlank && reader.language === 'python') block = whole;
        else if (whole.trim() !== '') yield whole;
      }
      prompt();
    }
    // The end of the input at a terminal does not end an open piece.
    const rest = block === '' ? cell : block;
    if (!isLeft && !isTerminal && rest.trim() !== '') yield rest;
  }

  const reader: CellReader = {
    language,
    interrupt: () => false,
    close,
    [Symbol.asyncIterator]: read,
  };
  return reader;
}
