import { faultLine } from '../fault-line.ts';
import { AUTHOR_CAPS, copySchema, OUTSIDE_CAPS } from './copy-schema.ts';
import { evaluate } from './node.ts';
import { compileSchema } from './compile-schema.ts';
import { startRun, TOO_MUCH_WORK, TooMuchWork } from './run.ts';
import { SchemaRefused } from '../schema-refused.ts';
import type { CheckedValue, CompiledSchema } from '../tool-schema.ts';

/**
 * Prepares a JSON schema for enforcement. Reading it and checking a value take a bounded number of steps, even if schema
 * and value are hostile.
 *
 * @throws {SchemaRefused} names the part that cannot be enforced
 */
export function compileJsonSchema(source: unknown, outside: boolean): CompiledSchema {
  const caps = outside ? OUTSIDE_CAPS : AUTHOR_CAPS;
  const copy = copySchema(source, caps);
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy))
    throw new SchemaRefused('something else than an object for a schema');
  const node = compileSchema(copy, caps);
  const check = (value: unknown): CheckedValue => {
    const run = startRun();
    try {
      return evaluate(node, value, run, undefined) ? { value } : { fault: faultLine(run.faults) };
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      return { fault: TOO_MUCH_WORK };
    }
  };
  return { json: copy as Record<string, unknown>, check: async (value) => check(value) };
}
