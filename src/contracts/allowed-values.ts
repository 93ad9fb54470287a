import type * as z from 'zod/mini';
import { definitionOf } from './schema-part.ts';

/** What a schema takes, as a noun: "a whole number from 1 to 64". Undefined where only its own message can say it. */
export function allowedValues(schema: z.core.$ZodType): string | undefined {
  const { type, entries, values, options } = definitionOf(schema);
  switch (type) {
    case 'number':
      return numbers(schema);
    case 'string':
      return 'a text';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'object':
    case 'record':
      return 'an object';
    case 'enum':
      return oneOf(Object.values(entries ?? {}));
    case 'literal':
      return oneOf(values ?? []);
    case 'union': {
      const alternatives = options?.map(allowedValues) ?? [];
      return alternatives.includes(undefined) ? undefined : [...new Set(alternatives)].join(' or ');
    }
    default:
      return undefined;
  }
}

function numbers(schema: z.core.$ZodType): string {
  const checks = definitionOf(schema).checks?.map(({ _zod: { def } }): NumberCheck => def) ?? [];
  const noun = checks.some(({ check }) => check === 'number_format') ? 'a whole number' : 'a number';
  const least = checks.find(({ check }) => check === 'greater_than')?.value;
  const most = checks.find(({ check }) => check === 'less_than')?.value;
  if (least === undefined) return most === undefined ? noun : `${noun} of at most ${most}`;
  return most === undefined ? `${noun} of at least ${least}` : `${noun} from ${least} to ${most}`;
}

interface NumberCheck {
  check: string;
  value?: number;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return shown.length === 1 ? `${shown[0]}` : `one of ${shown.join(', ')}`;
}
