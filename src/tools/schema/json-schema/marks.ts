import { spend, type Run } from './run.ts';

/** Names of properties and places of items that a schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Marks = Set<string | number>;

const STEPS_A_MARK = 6;

/** Notes that a property or an item was looked at. */
export function addMark(marks: Marks | undefined, key: string | number, run: Run): void {
  if (marks === undefined) return;
  spend(run, STEPS_A_MARK);
  marks.add(key);
}

/** Hands marks on to the schema above, if that asks for them. */
export function passMarks(to: Marks | undefined, from: Marks | undefined, run: Run): void {
  if (to === undefined || from === undefined) return;
  spend(run, from.size * STEPS_A_MARK);
  for (const key of from) to.add(key);
}
