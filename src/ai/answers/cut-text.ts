/** The share of the kept characters for the beginning. The rest is for the end, where errors mostly stand. */
const BEGINNING = 0.6;

/** A text that was kept whole, or only its beginning. */
export interface CuttableText {
  text: string;
  /** Bytes of the whole text. */
  bytes: number;
  /** Whether only the beginning was kept. */
  truncated: boolean;
}

/** Cuts out the middle of a text that is too long, and marks the place; of a truncated text, marks the missing end. */
export function cutText({ text, bytes, truncated }: CuttableText, characters: number): string {
  if (truncated) {
    const kept = text.slice(0, wholeAt(text, characters));
    return `${kept}\n[… cut: of ${bytes} bytes only the beginning was kept …]\n`;
  }
  if (text.length <= characters) return text;
  const head = wholeAt(text, Math.ceil(characters * BEGINNING));
  const tail = wholeAt(text, text.length - Math.floor(characters * (1 - BEGINNING)));
  return `${text.slice(0, head)}\n[… cut: ${tail - head} of ${text.length} characters left out …]\n${text.slice(tail)}`;
}

/** The same position, or the one before it if it would split a surrogate pair. */
export function wholeAt(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
