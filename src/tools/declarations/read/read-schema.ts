import { intersectionOf, unionOf } from './combine-types.ts';
import { commentLines } from './comment-lines.ts';
import { isFilledList, isList, isObject, isText, isTextList } from '../../schema/document/kinds-of-values.ts';
import { referenceFinder } from '../../schema/document/reference-finder.ts';
import {
  BYTES_KEYWORD,
  keysOf,
  keyword,
  partAt,
  partsByName,
  partsInList,
  wholeSchema,
  type SchemaPart,
} from '../../schema/document/schema-part.ts';
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

/** The pointer to the whole schema. */
const WHOLE = '';

const PLAIN_KINDS = ['string', 'number', 'integer', 'boolean', 'null'] as const;
const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'patternProperties'];
const ALTERNATIVES = ['anyOf', 'oneOf'];
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
  const waiting: { key: string; part: SchemaPart }[] = [];
  const whole = wholeSchema(schema);
  const find = referenceFinder(whole);
  let left = MOST_PARTS;
  let commentLeft = COMMENT_CHARACTERS;

  const notesOf = (part: SchemaPart): string[] => {
    const lines = commentLeft > 0 ? schemaNotes(part) : [];
    for (const line of lines) commentLeft -= line.length;
    return lines;
  };

  const read = (part: SchemaPart): StubType => {
    left -= 1;
    if (part.value === false) return NEVER;
    if (!isObject(part.value) || part.level > MOST_LEVELS || left < 0) return UNKNOWN;
    if (keyword(part, BYTES_KEYWORD) === true) return { kind: 'bytes' };
    const each = (name: string): StubType[] => partsInList(part, name, MOST_MEMBERS).map(read);
    const unions = ALTERNATIVES.filter((name) => isFilledList(keyword(part, name)));
    const type = intersectionOf([
      readReference(part),
      readValues(part) ?? readBase(part),
      ...each('allOf'),
      ...unions.map((name) => unionOf(each(name))),
    ]);
    return keyword(part, 'nullable') === true ? unionOf([type, { kind: 'null' }]) : type;
  };

  const readReference = (part: SchemaPart): StubType => {
    const target = find(keyword(part, '$ref') ?? keyword(part, '$dynamicRef'));
    if (target === undefined) return UNKNOWN;
    const key = target.pointer;
    if (!definitions.has(key)) {
      definitions.set(key, { name: keysOf(key).at(-1) ?? '', type: UNKNOWN, notes: [] });
      waiting.push({ key, part: target });
    }
    return { kind: 'reference', to: key };
  };

  const readValues = (part: SchemaPart): StubType | undefined => {
    if (Object.hasOwn(part.keywords, 'const')) return literalOf(keyword(part, 'const'));
    const values = keyword(part, 'enum');
    if (!isList(values)) return undefined;
    const shown = Math.max(0, Math.min(MOST_MEMBERS, left));
    left -= shown;
    return unionOf([...values.slice(0, shown).map(literalOf), ...values.slice(shown).map(kindOf)]);
  };

  const readBase = (part: SchemaPart): StubType => {
    const given = keyword(part, 'type');
    const kinds = isList(given) ? given.slice(0, MOST_MEMBERS) : [given ?? impliedKind(part)];
    return unionOf(kinds.map((kind) => readKind(kind, part)));
  };

  const readKind = (kind: unknown, part: SchemaPart): StubType => {
    if (kind === 'object') return readObject(part);
    if (kind === 'array') return readArray(part);
    const plain = PLAIN_KINDS.find((name) => name === kind);
    return plain === undefined ? UNKNOWN : { kind: plain };
  };

  const readObject = (part: SchemaPart): ObjectType => {
    const names = keyword(part, 'required');
    const required = new Set(isList(names) ? names.filter(isText) : []);
    const fields: StubField[] = [];
    for (const [name, property] of partsByName(part, 'properties')) {
      if (left <= 0) break;
      if (name.length > NAME_CHARACTERS) continue;
      fields.push({ name, type: read(property), required: required.delete(name), notes: notesOf(property) });
    }
    const others = left > 0 ? readOthers(part) : UNKNOWN;
    const allowed = namedKeys(part);
    for (const name of new Set([...(allowed ?? []), ...required])) {
      left -= 1;
      if (left < 0 || name.length > NAME_CHARACTERS || fields.some((field) => field.name === name)) continue;
      fields.push({ name, type: others ?? UNKNOWN, required: required.has(name), notes: [] });
    }
    if (fields.length > 0) return { kind: 'object', fields, others: allowed === undefined ? others : undefined };
    return {
      kind: 'object',
      fields,
      others: keyword(part, 'additionalProperties') === false ? (others ?? NEVER) : (others ?? UNKNOWN),
    };
  };

  /** Type of all keys without a property of their own; undefined if the schema does not restrict them. */
  const readOthers = (part: SchemaPart): StubType | undefined => {
    const patterns = partsByName(part, 'patternProperties').slice(0, MOST_MEMBERS);
    const additional = partAt(part, 'additionalProperties');
    const types = patterns.map(([, pattern]) => read(pattern));
    if (additional !== undefined && additional.value !== false) types.push(read(additional));
    return types.length > 0 ? unionOf(types) : undefined;
  };

  const readArray = (part: SchemaPart): StubType => {
    const isOldTuple = isList(keyword(part, 'items'));
    const items = partAt(part, 'items');
    const places = partsInList(part, isOldTuple ? 'items' : 'prefixItems');
    const behind = isOldTuple ? partAt(part, 'additionalItems') : items;
    if (places.length === 0) return { kind: 'array', items: items === undefined ? UNKNOWN : read(items) };
    const types = places.slice(0, MOST_MEMBERS).map(read);
    const least = keyword(part, 'minItems');
    const isCut = types.length < places.length;
    return {
      kind: 'tuple',
      items: types,
      // Without minItems, all listed places are treated as required.
      required: typeof least === 'number' && least >= 0 ? Math.min(Math.floor(least), types.length) : types.length,
      rest: isCut ? UNKNOWN : behind === undefined || behind.value === false ? undefined : read(behind),
    };
  };

  const type = read(whole);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const definition = definitions.get(next.key);
    if (definition !== undefined) Object.assign(definition, { type: read(next.part), notes: notesOf(next.part) });
  }
  const named: StubType = definitions.has(WHOLE) ? { kind: 'reference', to: WHOLE } : type;
  return settleSchema({ type: named, notes: notesOf(whole), definitions });
}

/** All possible keys of an object, if the schema restricts its keys to a short list. */
function namedKeys(part: SchemaPart): readonly string[] | undefined {
  const rule = partAt(part, 'propertyNames');
  const names = rule && keyword(rule, 'enum');
  return isFilledList(names) && names.length <= MOST_MEMBERS && isTextList(names) ? names : undefined;
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

function impliedKind({ keywords }: SchemaPart): string | undefined {
  const says = (names: readonly string[]): boolean => names.some((name) => Object.hasOwn(keywords, name));
  if (says(OBJECT_KEYWORDS)) return 'object';
  return says(ARRAY_KEYWORDS) ? 'array' : undefined;
}

function schemaNotes(part: SchemaPart): string[] {
  const lines = commentLines(keyword(part, 'description') ?? keyword(part, 'title'), FIELD_CHARACTERS);
  const hints = schemaHints(part);
  return hints === '' ? lines : [...lines, `(${hints})`];
}
