/** Content of a token, part by part: own sids, ranges of them, or invalid parts. */
export interface CitationParts {
  /** Single ids and ranges, both ends included, low end first. */
  ranges: { low: bigint; high: bigint }[];
  /** Parts that are neither a number nor a range. */
  invalid: string[];
  /** Whether a range holds more ids than {@link RANGE_LIMIT}. */
  tooLong: boolean;
}

/** The most ids that one range may hold. */
export const RANGE_LIMIT = 1000;

/** A citation token. Anything else in double brackets is ordinary text. */
export const CITATION_TOKEN: RegExp = /\[\[\s*S\s*:([\d,\-–\s]*)\]\]/gi;

const NUMBER = /^\d+$/;
const RANGE = /^(\d+)\s*[-–]\s*(\d+)$/;

/**
 * Reads the inside of a citation token.
 *
 * @param inside text between `[[S:` and `]]`
 * @returns its parts in order, without empty ones
 */
export function parseCitation(inside: string): CitationParts {
  const parts: CitationParts = { ranges: [], invalid: [], tooLong: false };
  for (const piece of inside.split(',')) {
    const part = piece.trim();
    if (part === '') continue;
    const range = NUMBER.test(part) ? [part, part, part] : RANGE.exec(part);
    if (range === null) {
      parts.invalid.push(part);
      continue;
    }
    const first = BigInt(range[1] ?? '');
    const last = BigInt(range[2] ?? '');
    const [low, high] = first <= last ? [first, last] : [last, first];
    parts.ranges.push({ low, high });
    parts.tooLong ||= high - low >= RANGE_LIMIT;
  }
  return parts;
}
