import type * as z from 'zod/mini';
import { nearName } from '../text/near-name.ts';
import { quotedText } from '../text/quoted-text.ts';
import { definitionOf, meantForm, schemaPart, valueAt } from './schema-part.ts';

const PLAIN = /^(?:[A-Za-z_$][\w$]*|\d+)$/;

interface NumberCheck {
  check: string;
  value?: number;
}

/** Placeholder for zod's own messages: these depend on the zod locale that the process has loaded. */
export const NO_WORDS = 'no words';

/** The fault of a value, and advice. */
export interface Explanation {
  /** The field, its allowed values, and the value: the middle of "Cannot <action>: <reason>." */
  reason: string;
  /** A sentence of advice, if there is one. */
  advice?: string;
}

/**
 * Explains zod's first issue: the field, its allowed values, and the value.
 *
 * @param schema the schema that refused the value
 * @param given the value
 * @param issues zod's issues, not empty
 * @param whole name of the whole value
 */
export function explainIssue(
  schema: z.core.$ZodType,
  given: unknown,
  issues: readonly z.core.$ZodIssue[],
  whole: string,
): Explanation {
  const [issue] = issues;
  if (issue === undefined) return { reason: `${whole} is not valid` };
  if (issue.code === 'unrecognized_keys') return unknownField(schema, given, issue);
  const nested = issue.code === 'invalid_union' ? meantAlternative(issue) : undefined;
  if (nested !== undefined) {
    return explainIssue(schema, given, [{ ...nested, path: [...issue.path, ...nested.path] }], whole);
  }
  const name = issue.path.length === 0 ? whole : fieldName(issue.path);
  if (issue.code === 'invalid_key') {
    const words = ownWords(issue.issues[0]) ?? 'has a name that is not allowed';
    return { reason: `${name} ${words}${received(issue.path.at(-1))}` };
  }
  const value = valueAt(given, issue.path);
  const words = ownWords(issue) ?? `must be ${allowedAt(schema, given, issue) ?? 'something else'}`;
  return { reason: value === undefined ? `${name} is missing: it ${words}` : `${name} ${words}${received(value)}` };
}

function ownWords(issue: z.core.$ZodIssue | undefined): string | undefined {
  return issue === undefined || issue.message === NO_WORDS ? undefined : issue.message;
}

function allowedAt(schema: z.core.$ZodType, given: unknown, issue: z.core.$ZodIssue): string | undefined {
  const part = schemaPart(schema, issue.path, given);
  const noun = part === undefined ? undefined : allowedValues(part);
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return noun;
  // The noun of a number has its bounds already. For a text or a list, the size is wrong.
  if (issue.origin === 'number' || issue.origin === 'int') return noun ?? bound(issue);
  if (issue.code === 'too_small' && issue.minimum === 1) return `${noun ?? 'something'} that is not empty`;
  return `${noun ?? 'something'} with ${bound(issue)} ${issue.origin === 'string' ? 'characters' : 'entries'}`;
}

function bound(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  return issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
}

/** The intended alternative of a union: the only one that fits the value at the top level. */
function meantAlternative(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue | undefined {
  const meant = issue.errors.filter((alternative) =>
    alternative.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  const only = meant.length === 1 ? meant[0] : undefined;
  return only?.find(({ code }) => code === 'unrecognized_keys') ?? only?.[0];
}

function unknownField(
  schema: z.core.$ZodType,
  given: unknown,
  { path, keys }: z.core.$ZodIssueUnrecognizedKeys,
): Explanation {
  const key = keys[0] ?? '';
  const value = valueAt(given, path);
  const reason = `there is no field ${fieldName([...path, key])}${received(valueAt(value, [key]))}`;
  const known = fieldsOf(schemaPart(schema, path, given), value);
  const near = nearName(key, known);
  const named = (field: string): string => fieldName([...path, ...field.split('.')]);
  if (near !== undefined) return { reason, advice: `Did you mean ${named(near)}?` };
  const direct = known.filter((name) => !name.includes('.'));
  return direct.length === 0 ? { reason } : { reason, advice: `There are ${direct.map(named).join(', ')}.` };
}

/** The fields of an object, then the fields one level below. The discriminator is left out: it already named the form. */
function fieldsOf(schema: z.core.$ZodType | undefined, value: unknown): string[] {
  if (schema === undefined) return [];
  const { discriminator } = definitionOf(schema);
  const form = meantForm(schema, value);
  const shape = form === undefined ? {} : (definitionOf(form).shape ?? {});
  const fields = Object.entries(shape).filter(([name]) => name !== discriminator);
  const below = fields.flatMap(([name, part]) =>
    Object.keys(definitionOf(part).shape ?? {}).map((inner) => `${name}.${inner}`),
  );
  return [...fields.map(([name]) => name), ...below];
}

/** The value, as far as one line can show it. */
function received(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return `, got ${value}`;
  if (typeof value === 'string') return `, got ${quotedText(value)}`;
  if (Array.isArray(value)) return `, got a list of ${value.length}`;
  return value === undefined ? '' : `, got ${typeof value === 'function' ? 'a function' : 'an object'}`;
}

/** The allowed values of a schema as a noun: "a whole number from 1 to 64". Undefined for types that only their own message describes. */
function allowedValues(schema: z.core.$ZodType): string | undefined {
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

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return shown.length === 1 ? `${shown[0]}` : `one of ${shown.join(', ')}`;
}

/**
 * The name of a field in a message: `limits.memoryMib`, `runners.0.name`, `files["../a"].source`.
 *
 * @param path keys and indexes from the whole to the field
 */
function fieldName(path: readonly PropertyKey[]): string {
  return path.map(String).reduce((name, key) => {
    if (name === '') return PLAIN.test(key) ? key : quotedText(key);
    return PLAIN.test(key) ? `${name}.${key}` : `${name}[${quotedText(key)}]`;
  }, '');
}
