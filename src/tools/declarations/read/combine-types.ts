import { NEVER, UNKNOWN, type ObjectType, type StubField, type StubType } from './stub-type.ts';

/**
 * Makes a union: nested unions are flattened, and duplicates are removed.
 *
 * @param types if empty, no value fits
 * @returns the type
 */
export function unionOf(types: readonly StubType[]): StubType {
  const members = distinct(open('union', types)).filter(({ kind }) => kind !== 'never');
  if (members.some(({ kind }) => kind === 'unknown')) return UNKNOWN;
  return members.length > 1 ? { kind: 'union', members } : (members[0] ?? NEVER);
}

/**
 * Makes an intersection: types that allow any value are removed, and object types are merged.
 *
 * @param types if empty, any value fits
 * @returns the type
 */
export function intersectionOf(types: readonly StubType[]): StubType {
  const members = distinct(open('intersection', types).filter(({ kind }) => kind !== 'unknown'));
  if (members.some(({ kind }) => kind === 'never')) return NEVER;
  const telling = members.filter(
    (type, at) => !members.some((other, place) => place !== at && isSaidBy(other, type, place < at)),
  );
  const objects = telling.filter((type) => type.kind === 'object');
  const merged = objects.length > 1 ? mergeObjects(objects) : undefined;
  const first = objects[0];
  const left = telling.flatMap((type) => {
    if (merged === undefined || type.kind !== 'object') return [type];
    return type === first ? [merged] : [];
  });
  return left.length > 1 ? { kind: 'intersection', members: left } : (left[0] ?? UNKNOWN);
}

/**
 * Merges several objects that apply at once.
 *
 * @param objects at least one
 * @returns a field for each name; a field is required if one of the objects requires it
 */
export function mergeObjects(objects: readonly ObjectType[]): ObjectType {
  const fields = new Map<string, StubField>();
  for (const field of objects.flatMap(({ fields }) => fields)) {
    const known = fields.get(field.name);
    fields.set(field.name, known === undefined ? field : mergeFields(known, field));
  }
  const others = objects.flatMap(({ others }) => (others === undefined ? [] : [others]));
  return {
    kind: 'object',
    fields: [...fields.values()],
    others: others.length === 0 ? undefined : intersectionOf(others),
  };
}

function mergeFields(one: StubField, other: StubField): StubField {
  return {
    name: one.name,
    type: intersectionOf([one.type, other.type]),
    required: one.required || other.required,
    notes: [...new Set([...one.notes, ...other.notes])],
  };
}

function open(kind: 'union' | 'intersection', types: readonly StubType[]): StubType[] {
  return types.flatMap((type) => (type.kind === kind ? type.members : [type]));
}

function distinct(types: readonly StubType[]): readonly StubType[] {
  // Most types are alone, and the text of a nested type is long.
  if (types.length < 2) return types;
  const seen = new Set<string>();
  return types.filter((type) => {
    const key = JSON.stringify(type);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Whether `type` adds nothing to `other`. Of two equal types, the first stays. */
function isSaidBy(other: StubType, type: StubType, isEarlier: boolean): boolean {
  return isWithin(other, type) && (isEarlier || !isWithin(type, other));
}

/** Whether all values of `narrow` are of the plain kind `wide`, which has no further rules. */
function isWithin(narrow: StubType, wide: StubType): boolean {
  if (narrow.kind === 'union') return narrow.members.every((member) => isWithin(member, wide));
  if (wide.kind === 'object') {
    const saysNothing = wide.fields.length === 0 && (wide.others === undefined || wide.others.kind === 'unknown');
    return saysNothing && (narrow.kind === 'object' || narrow.kind === 'reference');
  }
  if (wide.kind === 'array')
    return wide.items.kind === 'unknown' && (narrow.kind === 'array' || narrow.kind === 'tuple');
  if (narrow.kind === 'literal')
    return kindOfLiteral(narrow.value) === (wide.kind === 'integer' ? 'number' : wide.kind);
  return wide.kind === 'number' && narrow.kind === 'integer';
}

function kindOfLiteral(value: string | number | boolean | null): string {
  return value === null ? 'null' : typeof value;
}
