import { createInterface, type Interface } from 'node:readline';
import type { Language } from '../../contracts/language.ts';
import type { CliIo } from '../terminal/cli-io.ts';
import { isOpen } from './is-open.ts';

/** Lines of standard input as the pieces that are run one by one. */
export interface CellReader extends AsyncIterable<string> {
  /** The language in which lines are read from now on. */
  language: Language;
  /** What Ctrl-C at the terminal does. */
  onInterrupt: () => void;
  close(): void;
}

/** Reads standard input: at a terminal with a prompt and a history, else line by line. An empty line ends what is open. */
export function readCells(io: CliIo, language: Language, signal: AbortSignal): CellReader {
  const isTerminal = io.stdin.isTTY === true;
  const lines: Interface = createInterface({
    input: io.stdin,
    ...(isTerminal ? { output: io.stderr, terminal: true } : { crlfDelay: Infinity }),
  });
  const close = (): void => lines.close();
  signal.addEventListener('abort', close, { once: true });
  lines.on('SIGINT', () => reader.onInterrupt());

  async function* read(): AsyncGenerator<string> {
    let cell = '';
    const prompt = (): void => {
      if (!isTerminal) return;
      lines.setPrompt(cell === '' ? `${reader.language}> ` : '... ');
      lines.prompt();
    };
    prompt();
    for await (const line of lines) {
      const begun = cell !== '';
      cell = begun ? `${cell}\n${line}` : line;
      const ends = begun ? line.trim() === '' || !isOpen(reader.language, cell) : !isOpen(reader.language, cell);
      if (ends) {
        const whole = cell;
        cell = '';
        if (whole.trim() !== '') yield whole;
      }
      prompt();
    }
    if (cell.trim() !== '') yield cell;
  }

  const reader: CellReader = {
    language,
    onInterrupt: () => undefined,
    close,
    [Symbol.asyncIterator]: read,
  };
  return reader;
}
