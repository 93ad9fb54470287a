import { readFileSync } from 'node:fs';
import type { Mutant } from './list-mutants.ts';

/** A change that no test notices, and the reason why that is acceptable. */
export interface KnownSurvivor {
  file: string;
  /** The changed text with single blanks; only its beginning if it is long. */
  from: string;
  to: string;
  /** Number of earlier equal texts in the file; absent for the first. Counts from 0. */
  nth?: number;
  reason: string;
}

/** Long enough to distinguish the blocks of a file. */
const LONGEST_TEXT = 120;

/** Reads the list of known survivors. */
export function readKnownSurvivors(path: string): KnownSurvivor[] {
  return JSON.parse(readFileSync(path, 'utf8')) as KnownSurvivor[];
}

/** The list entry for a mutant, without a reason. */
export function survivorOf({ file, original, replacement, nth }: Mutant): Omit<KnownSurvivor, 'reason'> {
  return { file, from: inOneLine(original), to: inOneLine(replacement), ...(nth === 0 ? {} : { nth }) };
}

/** The listed reason for a mutant. */
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
