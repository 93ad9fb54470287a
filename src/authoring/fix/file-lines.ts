/** A text as lines and line ends, so that an edit of one line keeps all line ends. */
export interface FileLines {
  lines: string[];
  /** `\n`, `\r\n`, and an empty one for a last line without an end. */
  ends: string[];
}

/** Cuts a text at its line ends. */
export function fileLines(text: string): FileLines {
  const parts = text.split('\n');
  const ends = parts.map((part, index) => (index === parts.length - 1 ? '' : part.endsWith('\r') ? '\r\n' : '\n'));
  const lines = parts.map((part, index) => (ends[index] === '\r\n' ? part.slice(0, -1) : part));
  return { lines, ends };
}

/** Joins the lines with their ends. */
export function joinedText({ lines, ends }: FileLines): string {
  return lines.map((line, index) => `${line}${ends[index] ?? ''}`).join('');
}

/** The text as readers of skills see it, with LF as line end. */
export function readText({ lines }: FileLines): string {
  return lines.join('\n');
}
