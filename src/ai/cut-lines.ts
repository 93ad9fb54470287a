import { wholeAt } from './cut-text.ts';

/** Lines of a text, from its beginning. */
export interface CutLines {
  text: string;
  /** How many lines that are. */
  count: number;
  /** Whether the only line is cut itself. */
  isParted: boolean;
}

/** As many whole lines as fit, so that whoever reads goes on with the next one; of a first line that does not fit, its beginning. */
export function cutLines(text: string, characters: number): CutLines {
  if (text.length <= characters)
    return { text, count: text.split('\n').length - (text.endsWith('\n') ? 1 : 0), isParted: false };
  const end = text.lastIndexOf('\n', characters - 1) + 1;
  if (end === 0) return { text: text.slice(0, wholeAt(text, characters)), count: 1, isParted: true };
  const kept = text.slice(0, end);
  return { text: kept, count: kept.split('\n').length - 1, isParted: false };
}
