import { isList } from './kinds-of-values.ts';
import { keyword, partAt, partsByName, partsInList, type SchemaPart } from './schema-part.ts';

/** Keywords of both drafts with one schema, with a list of schemas, and with named schemas. */
const SINGLE = [
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const NAMED = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/** Deeper than any offered schema, and far from a stack overflow. */
const MOST_LEVELS = 100;

/** Whether a keyword holds schemas by name. */
export function holdsNamed(name: string): boolean {
  return NAMED.includes(name);
}

/** A schema and all schemas in it, down to a limit of levels, from the outside. A schema that stands in several places comes once. */
export function* partsWithin(part: SchemaPart, seen: Set<unknown> = new Set()): Generator<SchemaPart> {
  if (seen.has(part.value) || part.level > MOST_LEVELS) return;
  if (typeof part.value === 'object') seen.add(part.value);
  yield part;
  for (const inner of partsIn(part)) yield* partsWithin(inner, seen);
}

function partsIn(part: SchemaPart): SchemaPart[] {
  const single = SINGLE.filter((name) => !isList(keyword(part, name)));
  return [
    ...single.flatMap((name) => partAt(part, name) ?? []),
    // A list in the place of named schemas is a fault, which a reader finds in its items.
    ...[...LISTS, ...NAMED].flatMap((name) => partsInList(part, name)),
    ...NAMED.flatMap((name) => partsByName(part, name).flatMap(([, inner]) => (isNameList(name, inner) ? [] : inner))),
  ];
}

/** Whether a value stands in the place of a schema by right: draft-07 also has lists of names there. */
function isNameList(name: string, { value }: SchemaPart): boolean {
  return name === 'dependencies' && isList(value);
}
