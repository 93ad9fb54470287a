import { TOLD_FAULTS, type ValueFault } from '../fault-line.ts';

/**
 * Steps that one value may cost, of about 50 ns each. A schema that others wrote can ask for any number of steps with few bytes, so that
 * the bound is on the steps themselves; 256 KiB of JSON and a schema of everyday take a tenth of it.
 */
const STEPS = 2_000_000;
/** Schemas within schemas that are open at a time; the stack has room for three times as many. */
const OPEN_SCHEMAS = 1_000;

/** What the check of one value has found and spent. */
export interface Run {
  steps: number;
  open: number;
  /** Above 0 while a fault is no fault of the value: within `anyOf`, `not` and the like. */
  quiet: number;
  /** Keys from the value to the part that is looked at. */
  path: (string | number)[];
  faults: ValueFault[];
  /** Names of the properties of objects: V8 gathers them anew for each that asks. */
  names: Map<object, readonly string[]>;
}

/** A value whose check takes more than it may. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

/** What is wrong with such a value. */
export const TOO_MUCH_WORK = 'takes too much work to check';

export function startRun(): Run {
  return { steps: STEPS, open: 0, quiet: 0, path: [], faults: [], names: new Map() };
}

/** How many steps a value has cost until now. */
export function spentSteps(run: Run): number {
  return STEPS - run.steps;
}

/** Takes steps from what is left. */
export function spend(run: Run, steps: number): void {
  run.steps -= steps;
  if (run.steps < 0) throw new TooMuchWork();
}

/** The names of an object's properties. */
export function namesOf(run: Run, value: object): readonly string[] {
  const known = run.names.get(value);
  if (known !== undefined) return known;
  const names = Object.keys(value);
  spend(run, 4 + names.length * 4);
  run.names.set(value, names);
  return names;
}

/** Enters a schema; the caller leaves it by `run.open -= 1`. */
export function enter(run: Run, steps: number): void {
  spend(run, steps);
  run.open += 1;
  if (run.open > OPEN_SCHEMAS) throw new TooMuchWork();
}

/** Notes a fault of the part that is looked at. */
export function fault(run: Run, text: string): false {
  if (run.quiet === 0) run.faults.push({ path: [...run.path], text });
  return false;
}

/** Whether more faults would change nothing. */
export function isSettled(run: Run): boolean {
  return run.quiet > 0 || run.faults.length >= TOLD_FAULTS;
}
