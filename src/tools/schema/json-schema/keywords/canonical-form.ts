import { isBytes } from '../../document/kinds-of-values.ts';
import { spend, TooMuchWork, type Run } from '../run.ts';

const MAX_NESTING = 500;

/**
 * Writes a value so that two values are equal as JSON exactly if their forms are equal. `enum`, `const` and `uniqueItems`
 * compare forms, because forms can be looked up in a set.
 */
export function canonicalForm(value: unknown, run: Run, nesting = 0): string {
  if (typeof value !== 'object' || value === null) {
    spend(run, typeof value === 'string' ? 4 + value.length / 8 : 4);
    return JSON.stringify(value) ?? 'undefined';
  }
  if (nesting > MAX_NESTING) throw new TooMuchWork();
  if (isBytes(value)) {
    spend(run, value.length / 8);
    return `bytes ${Buffer.from(value).toString('base64')}`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalForm(item, run, nesting + 1)).join(',')}]`;
  const keys = Object.keys(value).sort();
  spend(run, 8 + keys.length * 8);
  const members = keys.map(
    (key) => `${JSON.stringify(key)}:${canonicalForm((value as Record<string, unknown>)[key], run, nesting + 1)}`,
  );
  return `{${members.join(',')}}`;
}
