import { isBytes, isList, isObject, isText } from '../../document/kinds-of-values.ts';
import { BYTES_KEYWORD, keyword, TYPE_NAMES } from '../../document/schema-part.ts';
import { SchemaRefused } from '../../schema-refused.ts';
import { canonicalForm } from './canonical-form.ts';
import { optional, type Keyword } from './keyword.ts';
import type { Check } from '../node.ts';
import { fault, spend, startRun, TooMuchWork } from '../run.ts';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: isObject,
  string: (value) => typeof value === 'string',
};
const TOLD_VALUES = 5;

/** Keywords that apply to every kind of value. */
export const KEYWORDS_OF_ANY: readonly Keyword[] = [
  {
    names: ['type', BYTES_KEYWORD],
    read(reading) {
      const asked = optional(reading, 'type', isTypeNames, `one of ${TYPE_NAMES.join(', ')}, or a list of them`);
      if (keyword(reading.part, BYTES_KEYWORD) === true)
        return (value, run) => isBytes(value) || fault(run, 'expected bytes');
      if (asked === undefined) return undefined;
      const names = [asked].flat();
      const tests = names.map((name) => TYPES[name]);
      return (value, run) => tests.some((test) => test?.(value)) || fault(run, `expected ${names.join(' or ')}`);
    },
  },
  {
    names: ['const'],
    read: ({ part }) => oneOfValues('const', [keyword(part, 'const')]),
  },
  {
    names: ['enum'],
    read(reading) {
      const values = optional(reading, 'enum', isList, 'a list');
      return values && oneOfValues('enum', values);
    },
  },
];

function isTypeNames(value: unknown): value is string | readonly string[] {
  const names: readonly unknown[] = [value].flat();
  return names.length > 0 && names.every((name) => isText(name) && TYPE_NAMES.includes(name));
}

function oneOfValues(name: string, values: readonly unknown[]): Check {
  const forms = formsOf(name, values);
  const hasParts = values.some((value) => typeof value === 'object' && value !== null);
  if (forms.size === 0) return (_value, run) => fault(run, 'fits nothing: its enum is empty');
  const told = Array.from(forms).slice(0, TOLD_VALUES).map(shortened).join(', ');
  const text = forms.size === 1 ? `must be ${told}` : `must be one of ${told}${forms.size > TOLD_VALUES ? ', …' : ''}`;
  return (value, run) => {
    spend(run, 1);
    const isScalar = typeof value !== 'object' || value === null;
    return ((isScalar || hasParts) && forms.has(canonicalForm(value, run))) || fault(run, text);
  };
}

function formsOf(name: string, values: readonly unknown[]): ReadonlySet<string> {
  const run = startRun();
  try {
    return new Set(values.map((value) => canonicalForm(value, run)));
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    throw new SchemaRefused(`the keyword "${name}" with values that take too much work to compare`);
  }
}

function shortened(form: string): string {
  return form.length > 40 ? `${form.slice(0, 40)}…` : form;
}
