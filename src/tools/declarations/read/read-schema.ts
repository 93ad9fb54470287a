import { intersectionOf, unionOf } from './combine-types.ts';
import { commentLines } from './comment-lines.ts';
import {
  findReferenced,
  isSchemaObject,
  keyword,
  keywordEntries,
  keywordList,
  type SchemaObject,
} from './json-schema.ts';
import { schemaHints } from './schema-hints.ts';
import { settleSchema } from './settle-schema.ts';
import {
  NEVER,
  UNKNOWN,
  type ObjectType,
  type StubDefinition,
  type StubField,
  type StubSchema,
  type StubType,
} from './stub-type.ts';

/** Most parts of one schema, and most levels. Everything beyond is unknown. */
const MOST_PARTS = 1_000;
const MOST_LEVELS = 24;
/** Most shown values of an enum or members of a union. */
const MOST_MEMBERS = 60;
/** Most characters of one name or value, of the comment of one field, and of all comments of a schema. */
const NAME_CHARACTERS = 200;
const FIELD_CHARACTERS = 400;
const COMMENT_CHARACTERS = 20_000;
/** Keyword for a JSON Schema string whose value travels as bytes. */
const BYTES_KEYWORD = 'x-skillcell-bytes';

/** The pointer to the whole schema. */
const WHOLE = '';

const PLAIN_KINDS = ['string', 'number', 'integer', 'boolean', 'null'] as const;
const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'patternProperties'];
const ARRAY_KEYWORDS = ['items', 'prefixItems'];

/**
 * Reads a JSON schema (2020-12 or draft-07) as a type. Any value is accepted: it is unknown if it is no schema, or if a
 * declaration cannot express it. Large schemas are read up to a limit.
 *
 * @param schema hostile
 * @returns the type, and the types that it refers to
 */
export function readSchema(schema: unknown): StubSchema {
  const definitions = new Map<string, StubDefinition>();
  const waiting: { key: string; part: unknown }[] = [];
  let left = MOST_PARTS;
  let commentLeft = COMMENT_CHARACTERS;

  const notesOf = (part: unknown): string[] => {
    const lines = commentLeft > 0 ? schemaNotes(part) : [];
    for (const line of lines) commentLeft -= line.length;
    return lines;
  };

  const read = (part: unknown, level: number): StubType => {
    left -= 1;
    if (part === false) return NEVER;
    if (!isSchemaObject(part) || level > MOST_LEVELS || left < 0) return UNKNOWN;
    if (keyword(part, BYTES_KEYWORD) === true) return { kind: 'bytes' };
    const each = (name: string): StubType[] =>
      keywordList(part, name)
        .slice(0, MOST_MEMBERS)
        .map((member) => read(member, level + 1));
    const unions = ['anyOf', 'oneOf'].flatMap((name) =>
      keywordList(part, name).length > 0 ? [unionOf(each(name))] : [],
    );
    const type = intersectionOf([
      readReference(part),
      readValues(part) ?? readBase(part, level),
      ...each('allOf'),
      ...unions,
    ]);
    return keyword(part, 'nullable') === true ? unionOf([type, { kind: 'null' }]) : type;
  };

  const readReference = (part: SchemaObject): StubType => {
    const found = findReferenced(schema, keyword(part, '$ref') ?? keyword(part, '$dynamicRef'));
    if (found === undefined) return UNKNOWN;
    if (!definitions.has(found.key)) {
      definitions.set(found.key, { name: found.name, type: UNKNOWN, notes: [] });
      waiting.push({ key: found.key, part: found.part });
    }
    return { kind: 'reference', to: found.key };
  };

  const readValues = (part: SchemaObject): StubType | undefined => {
    if (Object.hasOwn(part, 'const')) return literalOf(part['const']);
    const values = keyword(part, 'enum');
    if (!Array.isArray(values)) return undefined;
    const shown = Math.max(0, Math.min(MOST_MEMBERS, left));
    left -= shown;
    return unionOf([...values.slice(0, shown).map(literalOf), ...values.slice(shown).map(kindOf)]);
  };

  const readBase = (part: SchemaObject, level: number): StubType => {
    const given = keyword(part, 'type');
    const kinds = Array.isArray(given) ? given.slice(0, MOST_MEMBERS) : [given ?? impliedKind(part)];
    return unionOf(kinds.map((kind) => readKind(kind, part, level)));
  };

  const readKind = (kind: unknown, part: SchemaObject, level: number): StubType => {
    if (kind === 'object') return readObject(part, level);
    if (kind === 'array') return readArray(part, level);
    const plain = PLAIN_KINDS.find((name) => name === kind);
    return plain === undefined ? UNKNOWN : { kind: plain };
  };

  const readObject = (part: SchemaObject, level: number): ObjectType => {
    const required = new Set(keywordList(part, 'required').filter((name) => typeof name === 'string'));
    const fields: StubField[] = [];
    for (const [name, property] of keywordEntries(part, 'properties')) {
      if (left <= 0) break;
      if (name.length > NAME_CHARACTERS) continue;
      fields.push({ name, type: read(property, level + 1), required: required.delete(name), notes: notesOf(property) });
    }
    const others = left > 0 ? readOthers(part, level) : UNKNOWN;
    const names = namedKeys(part);
    for (const name of new Set([...(names ?? []), ...required])) {
      left -= 1;
      if (left < 0 || name.length > NAME_CHARACTERS || fields.some((field) => field.name === name)) continue;
      fields.push({ name, type: others ?? UNKNOWN, required: required.has(name), notes: [] });
    }
    if (fields.length > 0) return { kind: 'object', fields, others: names === undefined ? others : undefined };
    return {
      kind: 'object',
      fields,
      others: keyword(part, 'additionalProperties') === false ? (others ?? NEVER) : (others ?? UNKNOWN),
    };
  };

  /** Type of all keys without a property of their own; undefined if the schema does not restrict them. */
  const readOthers = (part: SchemaObject, level: number): StubType | undefined => {
    const patterns = keywordEntries(part, 'patternProperties').slice(0, MOST_MEMBERS);
    const additional = keyword(part, 'additionalProperties');
    const types = patterns.map(([, pattern]) => read(pattern, level + 1));
    if (additional !== undefined && additional !== false) types.push(read(additional, level + 1));
    return types.length > 0 ? unionOf(types) : undefined;
  };

  const readArray = (part: SchemaObject, level: number): StubType => {
    const items = keyword(part, 'items');
    const isOldTuple = Array.isArray(items);
    const places = isOldTuple ? items : keywordList(part, 'prefixItems');
    const behind = isOldTuple ? keyword(part, 'additionalItems') : items;
    if (places.length === 0) return { kind: 'array', items: items === undefined ? UNKNOWN : read(items, level + 1) };
    const types = places.slice(0, MOST_MEMBERS).map((place) => read(place, level + 1));
    const least = keyword(part, 'minItems');
    const isCut = types.length < places.length;
    return {
      kind: 'tuple',
      items: types,
      // Without minItems, all listed places are treated as required.
      required: typeof least === 'number' && least >= 0 ? Math.min(Math.floor(least), types.length) : types.length,
      rest: isCut ? UNKNOWN : behind === undefined || behind === false ? undefined : read(behind, level + 1),
    };
  };

  const type = read(schema, 0);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const definition = definitions.get(next.key);
    if (definition !== undefined) Object.assign(definition, { type: read(next.part, 0), notes: notesOf(next.part) });
  }
  const whole: StubType = definitions.has(WHOLE) ? { kind: 'reference', to: WHOLE } : type;
  return settleSchema({ type: whole, notes: notesOf(schema), definitions });
}

/** All possible keys of an object, if the schema restricts its keys to a short list. */
function namedKeys(part: SchemaObject): readonly string[] | undefined {
  const rule = keyword(part, 'propertyNames');
  const names = isSchemaObject(rule) ? keywordList(rule, 'enum') : [];
  const isList = names.length > 0 && names.length <= MOST_MEMBERS && names.every((name) => typeof name === 'string');
  return isList ? names : undefined;
}

function literalOf(value: unknown): StubType {
  if (typeof value === 'boolean' || value === null) return { kind: 'literal', value };
  if (typeof value === 'string' && value.length <= NAME_CHARACTERS) return { kind: 'literal', value };
  if (typeof value === 'number' && Number.isFinite(value)) return { kind: 'literal', value };
  return kindOf(value);
}

function kindOf(value: unknown): StubType {
  if (value === null) return { kind: 'null' };
  if (Array.isArray(value)) return { kind: 'array', items: UNKNOWN };
  if (typeof value === 'object') return { kind: 'object', fields: [], others: UNKNOWN };
  const plain = PLAIN_KINDS.find((name) => name === typeof value);
  return plain === undefined ? UNKNOWN : { kind: plain };
}

function impliedKind(part: SchemaObject): string | undefined {
  const says = (names: readonly string[]): boolean => names.some((name) => Object.hasOwn(part, name));
  if (says(OBJECT_KEYWORDS)) return 'object';
  return says(ARRAY_KEYWORDS) ? 'array' : undefined;
}

function schemaNotes(part: unknown): string[] {
  if (!isSchemaObject(part)) return [];
  const lines = commentLines(keyword(part, 'description') ?? keyword(part, 'title'), FIELD_CHARACTERS);
  const hints = schemaHints(part);
  return hints === '' ? lines : [...lines, `(${hints})`];
}
