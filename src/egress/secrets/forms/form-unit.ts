/** One way to write a unit: for each byte, the bytes that may stand there. */
export type Spelling = readonly (readonly number[])[];

/** A part of a form that encoders write as a whole, such as a character, in all its spellings. */
export interface FormUnit {
  /** For each place of each spelling, one after the other: the accepted bytes. */
  sets: readonly (readonly number[])[];
  /** The same sets as tables of 256 marks. */
  accepts: readonly Uint8Array[];
  /** For each place, the next place of its spelling; -1 at the end. */
  next: readonly number[];
  /** The first place of each spelling. */
  firsts: readonly number[];
  shortest: number;
  longest: number;
}

/** Joins the spellings of a unit. */
export function makeUnit(spellings: readonly Spelling[]): FormUnit {
  const sets = spellings.flat();
  const firsts: number[] = [];
  const next: number[] = [];
  for (const spelling of spellings) {
    firsts.push(next.length);
    for (let index = 1; index < spelling.length; index++) next.push(next.length + 1);
    next.push(-1);
  }
  const lengths = spellings.map(({ length }) => length);
  const accepts = sets.map(marksOf);
  return { sets, accepts, next, firsts, shortest: Math.min(...lengths), longest: Math.max(...lengths) };
}

/** The same unit, with each letter in either case. */
export function unitWithoutCase(unit: FormUnit): FormUnit {
  const sets = unit.sets.map(bothCases);
  return { ...unit, sets, accepts: sets.map(marksOf) };
}

/** A spelling of exactly these bytes. */
export function exactly(text: string): Spelling {
  return Array.from(Buffer.from(text), (byte) => [byte]);
}

/** A spelling of these characters, in which letters have either case. */
export function inEitherCase(text: string): Spelling {
  return Array.from(text, (character) => bothCases([character.charCodeAt(0)]));
}

function bothCases(set: readonly number[]): number[] {
  return [...new Set(set.flatMap((byte) => (isLetter(byte) ? [byte, byte ^ 0x20] : [byte])))];
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function marksOf(set: readonly number[]): Uint8Array {
  const marks = new Uint8Array(256);
  for (const byte of set) marks[byte] = 1;
  return marks;
}
