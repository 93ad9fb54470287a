import { cutTo } from '../../../skills/text/text.ts';
import { isFilledList, isObject } from '../../schema/document/kinds-of-values.ts';
import { keyword, partAt, partsByName, type SchemaPart } from '../../schema/document/schema-part.ts';
import { quotedLiteral } from './quoted-literal.ts';

/** Keywords whose value goes into the comment unchanged. */
const SAID = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'contentEncoding',
  'contentMediaType',
  'default',
  'deprecated',
];

/** Keywords with rules that a declaration cannot express. */
const NAMED = [
  'not',
  'if',
  'contains',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedProperties',
  'unevaluatedItems',
];

const VALUE_CHARACTERS = 100;
const PATTERNS = 5;
const LISTED_VALUES = 5;

/**
 * Describes the rules of a schema beyond its type: `minimum 1, maximum 100, default 20`.
 *
 * @param part a schema
 * @returns one line, empty without rules
 */
export function schemaHints(part: SchemaPart): string {
  const items = partAt(part, 'items');
  const each = items === undefined ? '' : ownHints(items);
  // Items of other types are declared with their own rules.
  const isScalar = items !== undefined && !['array', 'object'].includes(String(keyword(items, 'type')));
  return [ownHints(part), isScalar && each !== '' ? `each: ${each}` : ''].filter((hint) => hint !== '').join(', ');
}

function ownHints(part: SchemaPart): string {
  const said = SAID.flatMap((name) => {
    if (isSaidElsewhere(name, part)) return [];
    const value = shownValue(keyword(part, name));
    return value === undefined ? [] : [`${name} ${value}`];
  });
  const patterns = partsByName(part, 'patternProperties')
    .slice(0, PATTERNS)
    .map(([pattern]) => shownValue(pattern));
  const rules = NAMED.filter((name) => keyword(part, name) !== undefined && !isSaidElsewhere(name, part));
  return [
    keyword(part, 'type') === 'integer' ? 'a whole number' : '',
    ...said,
    patterns.length === 0 ? '' : `keys like ${patterns.join(', ')}`,
    rules.length === 0 ? '' : `more rules by ${rules.join(', ')}`,
  ]
    .filter((hint) => hint !== '')
    .join(', ');
}

/** Whether the hint is redundant: a pattern beside a format, counts of a tuple, and rules for names that allow any name or a list. */
function isSaidElsewhere(name: string, part: SchemaPart): boolean {
  const format = keyword(part, 'format');
  if (name === 'pattern') return typeof format === 'string';
  if (name === 'contentEncoding') return keyword(part, name) === format;
  if (name === 'minItems' || name === 'maxItems') return isTuple(part);
  if (name !== 'propertyNames') return false;
  const rule = keyword(part, name);
  return isObject(rule) && Object.keys(rule).every((key) => key === 'type' || key === 'enum');
}

function isTuple(part: SchemaPart): boolean {
  return isFilledList(keyword(part, 'prefixItems')) || isFilledList(keyword(part, 'items'));
}

/** The JSON of a scalar, or of a short list or object of scalars; undefined for larger values, which help no reader. */
function shownValue(value: unknown): string | undefined {
  if (typeof value === 'string') return quotedLiteral(cutTo(value.slice(0, VALUE_CHARACTERS * 2), VALUE_CHARACTERS));
  // Bounds that hold for every safe integer are not worth a hint.
  if (typeof value === 'number') return Math.abs(value) < Number.MAX_SAFE_INTEGER ? String(value) : undefined;
  if (typeof value === 'boolean' || value === null) return String(value);
  if (Array.isArray(value)) {
    const items = value.length > LISTED_VALUES ? [undefined] : value.map(shownScalar);
    return items.includes(undefined) ? undefined : `[${items.join(', ')}]`;
  }
  const members = isObject(value) ? Object.entries(value) : [];
  if (!isObject(value) || members.length > LISTED_VALUES) return undefined;
  const items = members.map(([key, item]) => [shownScalar(key), shownScalar(item)]);
  return items.flat().includes(undefined) ? undefined : `{${items.map((pair) => pair.join(': ')).join(', ')}}`;
}

function shownScalar(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? undefined : shownValue(value);
}
