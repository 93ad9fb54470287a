import { readFileSync } from 'node:fs';
import type { Mutant } from './list-mutants.ts';

/** A change that no test notices, and why that is right. */
export interface KnownSurvivor {
  file: string;
  /** The text that is changed, all blanks between two words as one; its beginning where it is long. */
  from: string;
  to: string;
  /** For the second and later ones of the same text in a file; counts from 0. */
  nth?: number;
  reason: string;
}

/** Enough to tell the blocks of a file apart. */
const LONGEST_TEXT = 120;

/** Reads the list of known survivors. */
export function readKnownSurvivors(path: string): KnownSurvivor[] {
  return JSON.parse(readFileSync(path, 'utf8')) as KnownSurvivor[];
}

/** The entry of the list that a mutant is, without its reason. */
export function survivorOf({ file, original, replacement, nth }: Mutant): Omit<KnownSurvivor, 'reason'> {
  return { file, from: inOneLine(original), to: inOneLine(replacement), ...(nth === 0 ? {} : { nth }) };
}

/** The reason that the list has for a mutant. */
export function reasonOf(known: readonly KnownSurvivor[], mutant: Mutant): string | undefined {
  const wanted = survivorOf(mutant);
  return known.find(
    ({ file, from, to, nth = 0 }) =>
      file === wanted.file && from === wanted.from && to === wanted.to && nth === (wanted.nth ?? 0),
  )?.reason;
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, LONGEST_TEXT);
}
