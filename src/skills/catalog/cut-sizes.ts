import type { CatalogLayout } from './catalog-entry.ts';

/** Descriptions are never cut below this many code points. */
export const SHORTEST_DESCRIPTION = 60;

const ELLIPSIS_BYTES = 3;

/** Sizes of all descriptions together, cut evenly. */
export interface CutSizes {
  /** Bytes of the descriptions as they are. */
  full: number;
  /** Bytes by the length that all are cut to; index 0 stands for {@link SHORTEST_DESCRIPTION}. */
  cut: Float64Array;
}

/**
 * Computes the size of a catalog's descriptions for each possible length, in one pass over their characters. Size does
 * not grow steadily with the length, because the `…` takes three bytes; a binary search would miss the largest length
 * that fits.
 *
 * @param descriptions on one line each
 * @param layout how the format writes them
 * @returns bytes by length, up to one below the longest
 */
export function cutSizes(descriptions: readonly string[], layout: CatalogLayout['description']): CutSizes {
  const lengths = descriptions.map((text) => [...text].length);
  const longest = Math.max(0, ...lengths);
  const cut = new Float64Array(Math.max(0, longest - SHORTEST_DESCRIPTION));
  const uncutFrom = new Float64Array(cut.length + 1);
  let full = 0;
  descriptions.forEach((text, index) => {
    const length = lengths[index] ?? 0;
    const size = addCuts(text, length, layout, cut);
    full += size;
    const from = Math.max(0, length - SHORTEST_DESCRIPTION);
    uncutFrom[from] = (uncutFrom[from] ?? 0) + size;
  });
  let uncut = 0;
  for (let index = 0; index < cut.length; index += 1) {
    uncut += uncutFrom[index] ?? 0;
    cut[index] = (cut[index] ?? 0) + uncut;
  }
  return { full, cut };
}

/** Adds the size of one text, cut to every length below its own, to `totals`; returns its size uncut. */
function addCuts(text: string, length: number, layout: CatalogLayout['description'], totals: Float64Array): number {
  const width = layout.wrapWidth ?? Number.POSITIVE_INFINITY;
  const place = { lines: 0, column: 0 };
  let word = 0;
  let bytes = 0;
  let kept = 0;
  let cutSize = 0;
  const sizeWith = (wordLength: number, extra: number): number => {
    if (wordLength === 0) return 0;
    const fits = place.lines > 0 && place.column + 1 + wordLength <= width;
    const lines = fits ? place.lines : place.lines + 1;
    // A line's overhead holds its newline; every line but the last has its newline in place of a blank.
    const wrapped = layout.wrapWidth === undefined ? 0 : layout.lineOverhead * lines - (lines - 1);
    return bytes + extra + wrapped;
  };
  for (const character of text) {
    // `kept` characters and the ellipsis are a text cut to `kept + 1`.
    const index = kept + 1 - SHORTEST_DESCRIPTION;
    if (index >= 0 && kept + 1 < length) totals[index] = (totals[index] ?? 0) + cutSize;
    kept += 1;
    if (character === ' ') {
      const fits = place.lines > 0 && place.column + 1 + word <= width;
      place.column = fits ? place.column + 1 + word : word;
      if (!fits) place.lines += 1;
      word = 0;
      bytes += 1;
      continue;
    }
    word += 1;
    bytes += bytesOf(layout.escape === undefined ? character : layout.escape(character));
    cutSize = sizeWith(word + 1, ELLIPSIS_BYTES);
  }
  return sizeWith(word, 0);
}

function bytesOf(text: string): number {
  const point = text.codePointAt(0) ?? 0;
  if (point < 0x80) return text.length;
  if (point < 0x800) return 2;
  return point > 0xffff ? 4 : 3;
}
