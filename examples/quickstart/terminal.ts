import { pathToFileURL } from 'node:url';
import { escapeControls } from '../../src/cli/terminal/escape-controls.ts';

const terminal = process.stdout.isTTY;

/** Columns that the quick start uses. */
export const WIDTH: number = Math.max(80, Math.min(process.stdout.columns || 100, 120));

/** Prints a line. */
export function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Prints the heading of a part. */
export function sayTitle(title: string): void {
  say(`\n${terminal ? `\u001b[1m${title}\u001b[22m` : title}\n${'─'.repeat(WIDTH)}`);
}

/** Text of a model or its program, without control characters that a terminal would act on. */
export function shown(text: string): string {
  return escapeControls(text);
}

/** A path as a link that a terminal opens at a click (OSC 8); without a terminal only the path. */
export function fileLink(path: string, text: string): string {
  if (!terminal) return text;
  return `\u001b]8;;${pathToFileURL(path).href}\u001b\\${text}\u001b]8;;\u001b\\`;
}

/** A text in a colour, on a terminal. */
export function coloured(text: string, [red, green, blue]: readonly number[]): string {
  return terminal ? `\u001b[38;2;${red};${green};${blue}m${text}\u001b[39m` : text;
}

/** Breaks a text into lines of at most `width`, between words if possible. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

/** Markdown with each paragraph and list item on one line, for new wrapping; tables and headings stay unchanged. */
export function joinedLines(markdown: string): string {
  const lines: string[] = [];
  for (const line of markdown.split('\n')) {
    const previous = lines.at(-1) ?? '';
    const begins = line.trim() === '' || /^\s*([-*+|#>]|\d+\.)(\s|$)|^\|/.test(line);
    if (begins || previous === '' || /^[|#]/.test(previous)) lines.push(line);
    else lines[lines.length - 1] = `${previous} ${line.trim()}`;
  }
  return lines.join('\n');
}

/** Prints rows of cells side by side, each wrapped to the width of its column. */
export function sayColumns(widths: readonly number[], rows: readonly (readonly string[])[]): void {
  for (const row of rows) {
    const cells = row.map((text, index) => wrapped(text, (widths[index] ?? 0) - 2));
    for (let line = 0; line < Math.max(...cells.map(({ length }) => length)); line += 1) {
      say(cells.map((lines, index) => (lines[line] ?? '').padEnd(widths[index] ?? 0)).join('').trimEnd());
    }
  }
}
