import { passMarks, type Marks } from './marks.ts';
import { enter, isSettled, type Run } from './run.ts';

/** Checks a value by one keyword, and marks the evaluated parts if a schema needs marks. */
export type Check = (value: unknown, run: Run, marks: Marks | undefined) => boolean;

/** A schema that is ready to check values. */
export interface SchemaNode {
  checks: Check[];
  /** Whether it has `unevaluatedItems` or `unevaluatedProperties`. */
  readsMarks: boolean;
  /** Schemas that judge the same value as this one. */
  inPlace: SchemaNode[];
}

/** Whether a value fits. */
export function evaluate(node: SchemaNode, value: unknown, run: Run, marks: Marks | undefined): boolean {
  enter(run, 1 + node.checks.length);
  const own: Marks | undefined = node.readsMarks ? new Set() : marks;
  let fits = true;
  for (const check of node.checks) {
    if (check(value, run, own)) continue;
    fits = false;
    if (isSettled(run)) break;
  }
  run.open -= 1;
  if (fits && own !== marks) passMarks(marks, own, run);
  return fits;
}

/** Whether a part of the value fits. Its faults carry its key. */
export function evaluateAt(node: SchemaNode, key: string | number, value: unknown, run: Run): boolean {
  run.path.push(key);
  const fits = evaluate(node, value, run, undefined);
  run.path.pop();
  return fits;
}

/** Whether a value fits, when a misfit is no fault of the value. Marks count only if the value fits. */
export function attempt(node: SchemaNode, value: unknown, run: Run, marks: Marks | undefined): boolean {
  run.quiet += 1;
  const own: Marks | undefined = marks && new Set();
  const fits = evaluate(node, value, run, own);
  run.quiet -= 1;
  if (fits) passMarks(marks, own, run);
  return fits;
}
