import { UNKNOWN, type StubDefinition, type StubSchema, type StubType } from './stub-type.ts';

/** Most combinations of one type: compilers expand intersections of unions. */
const MOST_COMBINATIONS = 400;

/**
 * Removes constructs that no compiler accepts: a definition that refers to itself only through unions and intersections,
 * and a type with too many combinations.
 *
 * @param schema as it was read; its definitions are changed
 * @returns the schema
 */
export function settleSchema(schema: StubSchema): StubSchema {
  cutCycles(schema.definitions);
  const breadth = breadthIn(schema.definitions);
  for (const definition of schema.definitions.values()) definition.type = narrow(definition.type, breadth);
  return { ...schema, type: narrow(schema.type, breadth) };
}

/** Cuts each reference back to an open definition, unless a field or an item lies between. */
function cutCycles(definitions: ReadonlyMap<string, StubDefinition>): void {
  const state = new Map<string, 'open' | 'done'>();
  const visit = (key: string): void => {
    const definition = definitions.get(key);
    if (definition === undefined) return;
    state.set(key, 'open');
    definition.type = cut(definition.type);
    state.set(key, 'done');
  };
  const cut = (type: StubType): StubType => {
    if (type.kind === 'reference') {
      if (state.get(type.to) === 'open') return UNKNOWN;
      if (!state.has(type.to)) visit(type.to);
    }
    if (type.kind !== 'union' && type.kind !== 'intersection') return type;
    return { kind: type.kind, members: type.members.map(cut) };
  };
  for (const key of definitions.keys()) if (!state.has(key)) visit(key);
}

/** Counts the combinations of a type. A type with too many becomes unknown, which counts as one. */
function breadthIn(definitions: ReadonlyMap<string, StubDefinition>): (type: StubType) => number {
  const known = new Map<string, number>();
  const count = (type: StubType): number => {
    if (type.kind === 'boolean') return 2;
    if (type.kind === 'union') return type.members.reduce((sum, member) => sum + bounded(member), 0);
    if (type.kind === 'intersection') return type.members.reduce((product, member) => product * bounded(member), 1);
    if (type.kind !== 'reference') return 1;
    const breadth = known.get(type.to) ?? bounded(definitions.get(type.to)?.type ?? UNKNOWN);
    known.set(type.to, breadth);
    return breadth;
  };
  const bounded = (type: StubType): number => {
    const breadth = count(type);
    return breadth > MOST_COMBINATIONS ? 1 : breadth;
  };
  return count;
}

/** The type, with too broad parts replaced. */
function narrow(type: StubType, breadth: (type: StubType) => number): StubType {
  const inner = (part: StubType): StubType => narrow(part, breadth);
  if (type.kind === 'array') return { ...type, items: inner(type.items) };
  if (type.kind === 'tuple') return { ...type, items: type.items.map(inner), rest: type.rest && inner(type.rest) };
  if (type.kind === 'object') {
    const fields = type.fields.map((field) => ({ ...field, type: inner(field.type) }));
    return { ...type, fields, others: type.others && inner(type.others) };
  }
  if (type.kind !== 'union' && type.kind !== 'intersection') return type;
  return breadth(type) > MOST_COMBINATIONS ? UNKNOWN : { kind: type.kind, members: type.members.map(inner) };
}
