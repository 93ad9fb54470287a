import { spend, type Run } from './run.ts';

/** Names of properties and places of items that a schema has evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Marks = Set<string | number>;

const STEPS_A_MARK = 6;

/** Marks a property or an item as evaluated. */
export function addMark(marks: Marks | undefined, key: string | number, run: Run): void {
  if (marks === undefined) return;
  spend(run, STEPS_A_MARK);
  marks.add(key);
}

/** Passes marks to the schema above, if it needs them. */
export function passMarks(to: Marks | undefined, from: Marks | undefined, run: Run): void {
  if (to === undefined || from === undefined) return;
  spend(run, from.size * STEPS_A_MARK);
  for (const key of from) to.add(key);
}
