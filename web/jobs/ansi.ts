import Anser, { type AnserJsonEntry } from 'anser';

/** The sequences that colour text; they hold until the next one, over the ends of lines. */
// oxlint-disable-next-line no-control-regex
const COLOURS = /\x1b\[[\d;]*m/g;
/** Other sequences: titles, links, movements of the cursor; and control characters that are no tab. */
const OTHERS =
  // oxlint-disable-next-line no-control-regex
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[\d;?<=>]*[ -/]*[@-ln-~]|\x1b[^[\]]|[\0-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;
/** Longer lines are cut: a page cannot show them. The whole output can be downloaded. */
const MOST_CHARACTERS = 4_000;
/** Colours that lines inherit. A program that sets more of them without a reset loses the older ones. */
const MOST_KEPT = 8;

/** A line of output, with the colours that hold at its beginning. */
export interface OutputLine {
  stream: 'stdout' | 'stderr';
  colours: string;
  text: string;
}

/** Divides the text of one stream into lines as it comes. */
export class LineReader {
  readonly #stream: OutputLine['stream'];
  #colours = '';
  /** The last line, while it may still grow. */
  #open: OutputLine | undefined;

  constructor(stream: OutputLine['stream']) {
    this.#stream = stream;
  }

  /** Adds a text to lines. */
  add(lines: OutputLine[], text: string): void {
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\n', start);
      const line = this.#open ?? { stream: this.#stream, colours: this.#colours, text: '' };
      if (this.#open === undefined) lines.push(line);
      line.text += text.slice(start, end === -1 ? undefined : end);
      this.#open = line;
      if (end === -1) return;
      this.#open = undefined;
      this.#colours = coloursAfter(line);
      start = end + 1;
    }
  }
}

/** The colours that hold behind a line. */
function coloursAfter({ colours, text }: OutputLine): string {
  // Most lines have none, and a search for all of them would take most of the time.
  if (!text.includes('\x1b')) return colours;
  const all = (colours + text).match(COLOURS) ?? [];
  const reset = all.findLastIndex((colour) => /\[0?m/.test(colour));
  return all
    .slice(reset + 1)
    .slice(-MOST_KEPT)
    .join('');
}

/** A line as parts of one style. */
export function styledParts({ colours, text }: OutputLine): AnserJsonEntry[] {
  // A carriage return begins the line anew, as bars of progress do.
  const shown = text.slice(text.lastIndexOf('\r', text.length - 2) + 1).replaceAll('\r', '');
  const cut =
    shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS)} … (${shown.length} characters)` : shown;
  return Anser.ansiToJson((colours + cut).replace(OTHERS, ''), { json: true, remove_empty: true });
}
