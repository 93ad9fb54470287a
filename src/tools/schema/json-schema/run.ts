import { TOLD_FAULTS, type ValueFault } from '../fault-line.ts';

/**
 * Most steps for one value, of about 50 ns each. An untrusted schema can cause any number of steps with few bytes, so the
 * steps themselves are bounded. 256 KiB of JSON with an ordinary schema take a tenth of them.
 */
const STEPS = 2_000_000;
/** Most open nested schemas; the stack has room for three times as many. */
const OPEN_SCHEMAS = 1_000;

/** Findings and remaining steps of the check of one value. */
export interface Run {
  steps: number;
  open: number;
  /** Above 0 while a misfit is no fault of the value: within `anyOf`, `not` and the like. */
  quiet: number;
  /** Keys from the value to the current part. */
  path: (string | number)[];
  faults: ValueFault[];
  /** Cached property names of objects, because V8 collects them anew on each request. */
  names: Map<object, readonly string[]>;
}

/** The check of a value needs more steps than allowed. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

/** The fault of such a value. */
export const TOO_MUCH_WORK = 'takes too much work to check';

export function startRun(): Run {
  return { steps: STEPS, open: 0, quiet: 0, path: [], faults: [], names: new Map() };
}

/** Number of steps that a value has cost so far. */
export function spentSteps(run: Run): number {
  return STEPS - run.steps;
}

/** Takes steps from the rest. */
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

/** Enters a schema; the caller leaves it with `run.open -= 1`. */
export function enter(run: Run, steps: number): void {
  spend(run, steps);
  run.open += 1;
  if (run.open > OPEN_SCHEMAS) throw new TooMuchWork();
}

/** Records a fault of the current part. */
export function fault(run: Run, text: string): false {
  if (run.quiet === 0) run.faults.push({ path: [...run.path], text });
  return false;
}

/** Whether more faults would make no difference. */
export function isSettled(run: Run): boolean {
  return run.quiet > 0 || run.faults.length >= TOLD_FAULTS;
}
