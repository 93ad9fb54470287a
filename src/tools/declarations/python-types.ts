import { mergeObjects } from './read/combine-types.ts';
import { quotedLiteral } from './read/quoted-literal.ts';
import type { StubDraft } from './stub-draft.ts';
import { UNKNOWN, type ObjectType, type StubDefinition, type StubField, type StubType } from './read/stub-type.ts';
import { PYTHON_KEYWORDS } from './tool-places.ts';

/** Context for types in Python. */
export interface PythonTypes {
  /** Names classes and collects their texts. */
  draft: StubDraft;
  /** Names of the schema's definitions by key. */
  known: ReadonlyMap<string, string>;
  definitions: ReadonlyMap<string, StubDefinition>;
}

/** Python mangles names in classes that begin with two underscores. */
const IDENTIFIER = /^(?:[A-Za-z][A-Za-z0-9_]*|_(?:[A-Za-z0-9][A-Za-z0-9_]*)?)$/;

/**
 * Writes a type in Python (3.11). Objects with keys become classes, because Python has no expression for them.
 *
 * @param type type from a schema
 * @param types names and target of classes
 * @param words parts of the name of a new class
 * @returns a type expression on one line
 */
export function pythonType(type: StubType, types: PythonTypes, words: readonly string[]): string {
  const write = (part: StubType, ...more: string[]): string => pythonType(part, types, [...words, ...more]);
  switch (type.kind) {
    case 'unknown':
      return 'Any';
    case 'never':
      return 'Never';
    case 'string':
      return 'str';
    case 'number':
      return 'float';
    case 'integer':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'bytes':
      return 'bytes';
    case 'literal':
      return unionOfTexts([type], write);
    case 'array':
      return `list[${write(type.items, 'Item')}]`;
    case 'tuple': {
      const { items, required, rest } = type;
      if (rest === undefined && required === items.length)
        return `tuple[${items.map((item) => write(item)).join(', ')}]`;
      return `list[${unionOfTexts(rest === undefined ? items : [...items, rest], write)}]`;
    }
    case 'object':
      return objectType(type, types, words);
    case 'union':
      return unionOfTexts(type.members, write);
    case 'intersection':
      return intersectionType(type.members, types, words);
    case 'reference':
      return types.known.get(type.to) ?? 'Any';
  }
}

/**
 * Returns the one object that a type is, through references and intersections.
 *
 * @param type type from a schema
 * @param definitions targets of references
 * @returns the object; undefined for any other type
 */
export function asObject(type: StubType, definitions: ReadonlyMap<string, StubDefinition>): ObjectType | undefined {
  const seen = new Set<string>();
  let isMore = false;
  const objectsOf = (part: StubType): ObjectType[] => {
    if (part.kind === 'object') return [part];
    if (part.kind === 'intersection') return part.members.flatMap(objectsOf);
    if (part.kind !== 'reference') isMore = true;
    if (part.kind !== 'reference' || seen.has(part.to)) return [];
    seen.add(part.to);
    return objectsOf(definitions.get(part.to)?.type ?? UNKNOWN);
  };
  const objects = objectsOf(type);
  const object = objects.length > 1 ? mergeObjects(objects) : objects[0];
  // Other members, such as a union of key sets, may allow further keys.
  return object !== undefined && isMore ? { ...object, others: object.others ?? UNKNOWN } : object;
}

/**
 * Writes lines of comment.
 *
 * @param lines each without a line end
 * @param indentation blanks before each
 * @returns the comment with its last newline; empty without lines
 */
export function pythonComment(lines: readonly string[], indentation: string): string {
  return lines.map((line) => `${indentation}# ${line}\n`).join('');
}

/** Whether a key can be an argument's name, and a name in a class. */
export function isPythonName(name: string): boolean {
  return IDENTIFIER.test(name) && !PYTHON_KEYWORDS.has(name);
}

/** Joins all literals into one `Literal`, which is shorter. */
function unionOfTexts(members: readonly StubType[], write: (part: StubType) => string): string {
  const literals = members.flatMap((member) => (member.kind === 'literal' ? (literalText(member.value) ?? []) : []));
  const types = members.flatMap((member) => {
    if (member.kind !== 'literal') return [write(member)];
    return literalText(member.value) === undefined ? ['float'] : [];
  });
  const texts = new Set([...(literals.length === 0 ? [] : [`Literal[${literals.join(', ')}]`]), ...types]);
  return [...texts].join(' | ');
}

/** Python has no literal types for fractions. */
function literalText(value: string | number | boolean | null): string | undefined {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quotedLiteral(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

function objectType({ fields, others }: ObjectType, types: PythonTypes, words: readonly string[]): string {
  if (fields.length === 0) return `dict[str, ${pythonType(others ?? UNKNOWN, types, [...words, 'Value'])}]`;
  const name = types.draft.names(...words);
  types.draft.define(typedDict(name, { kind: 'object', fields, others }, [], types));
  return name;
}

/** Python has no intersections; a class that inherits from all the classes comes closest. */
function intersectionType(members: readonly StubType[], types: PythonTypes, words: readonly string[]): string {
  const bases = members.flatMap((member) => (member.kind === 'reference' ? (types.known.get(member.to) ?? []) : []));
  const own = members.find((member) => member.kind === 'object');
  if (bases.length === 0) return pythonType(own ?? members[0] ?? UNKNOWN, types, words);
  const name = types.draft.names(...words);
  if (own !== undefined && own.fields.length > 0) bases.push(objectType(own, types, [name, 'Own']));
  types.draft.define(`class ${name}(${bases.join(', ')}): ...\n`);
  return name;
}

/** Writes a class for an object with keys. */
export function typedDict(name: string, type: ObjectType, notes: readonly string[], types: PythonTypes): string {
  const { fields, others } = type;
  const rest =
    others === undefined || others.kind === 'unknown'
      ? []
      : [`Other keys: ${pythonType(others, types, [name, 'Value'])}`];
  const comment = pythonComment([...notes, ...rest], '');
  const typed = (field: StubField): string => {
    const text = pythonType(field.type, types, [name, field.name]);
    return field.required ? text : `NotRequired[${text}]`;
  };
  if (fields.every((field) => isPythonName(field.name))) {
    const lines = fields.map((field) => `${pythonComment(field.notes, '    ')}    ${field.name}: ${typed(field)}\n`);
    return `${comment}class ${name}(TypedDict):\n${lines.join('')}`;
  }
  const lines = fields.map((field) => {
    return `${pythonComment(field.notes, '    ')}    ${quotedLiteral(field.name)}: ${typed(field)},\n`;
  });
  return `${comment}${name} = TypedDict("${name}", {\n${lines.join('')}})\n`;
}
