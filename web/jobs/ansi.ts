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
  #colours: string[] = [];

  constructor(stream: OutputLine['stream']) {
    this.#stream = stream;
  }

  /** Adds a text to lines. The last line of this stream may still grow. */
  add(lines: OutputLine[], text: string, open: OutputLine | undefined): OutputLine | undefined {
    const [first = '', ...others] = text.split('\n');
    let last = open;
    if (last === undefined) {
      if (first === '' && others.length === 0) return undefined;
      last = this.#begin(lines);
    }
    this.#extend(last, first);
    for (const [index, other] of others.entries()) {
      if (index === others.length - 1 && other === '') return undefined;
      last = this.#begin(lines);
      this.#extend(last, other);
    }
    return last;
  }

  #begin(lines: OutputLine[]): OutputLine {
    const line = { stream: this.#stream, colours: this.#colours.join(''), text: '' };
    lines.push(line);
    return line;
  }

  #extend(line: OutputLine, text: string): void {
    line.text += text;
    for (const [colour] of text.matchAll(COLOURS)) {
      this.#colours = /\[0?m/.test(colour) ? [] : [...this.#colours, colour].slice(-MOST_KEPT);
    }
  }
}

/** A line as parts of one style. */
export function styledParts({ colours, text }: OutputLine): AnserJsonEntry[] {
  // A carriage return begins the line anew, as bars of progress do.
  const shown = text.slice(text.lastIndexOf('\r', text.length - 2) + 1).replaceAll('\r', '');
  const cut =
    shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS)} … (${shown.length} characters)` : shown;
  return Anser.ansiToJson((colours + cut).replace(OTHERS, ''), { json: true, remove_empty: true });
}
