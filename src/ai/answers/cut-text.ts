/** Of what may stay, the part that the beginning gets: what went wrong mostly stands at the end. */
const BEGINNING = 0.6;

/** A text that was kept whole, or only in its beginning. */
export interface CuttableText {
  text: string;
  /** Bytes that were written in all. */
  bytes: number;
  /** Whether only the beginning was kept. */
  truncated: boolean;
}

/** Leaves out the middle of a text that is too long, or the end where that was never kept, and says so in its place. */
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

/** The same place, or the one before it where it would part a character. */
export function wholeAt(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
