import { quotedLiteral } from './read/quoted-literal.ts';
import type { ObjectType, StubField, StubType } from './read/stub-type.ts';

/** The most characters of an object or a list on one line. */
const ONE_LINE = 90;
const PROPERTY_NAME = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * Writes a type in TypeScript.
 *
 * @param type type from a schema
 * @param indentation blanks before the lines after the first
 * @param nameOf the name of a definition by its key
 * @returns a type expression, on several lines if it is long
 */
export function typescriptType(type: StubType, indentation: string, nameOf: (key: string) => string): string {
  const write = (part: StubType): string => typescriptType(part, indentation, nameOf);
  const apart = (part: StubType): string => {
    const text = write(part);
    return part.kind === 'union' || part.kind === 'intersection' || isWithOthers(part) ? `(${text})` : text;
  };
  switch (type.kind) {
    case 'integer':
      return 'number';
    case 'bytes':
      return 'Uint8Array';
    case 'literal':
      return typeof type.value === 'string' ? quotedLiteral(type.value) : String(type.value);
    case 'array':
      return `${apart(type.items)}[]`;
    case 'tuple': {
      const items = type.items.map((item, at) => (at < type.required ? write(item) : `${apart(item)}?`));
      return `[${[...items, ...(type.rest === undefined ? [] : [`...${apart(type.rest)}[]`])].join(', ')}]`;
    }
    case 'object':
      return objectType(type, indentation, nameOf);
    case 'union':
      return type.members.map(apart).join(' | ');
    case 'intersection':
      return type.members.map(apart).join(' & ');
    case 'reference':
      return nameOf(type.to);
    case 'unknown':
    case 'never':
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type.kind;
  }
}

/**
 * Writes a comment, to be put before a declaration.
 *
 * @param lines each without a line end
 * @param indentation blanks before each
 * @returns the comment with its last newline; empty without lines
 */
export function typescriptComment(lines: readonly string[], indentation: string): string {
  const safe = lines.map((line) => line.replaceAll('*/', '*\\/'));
  if (safe.length === 0) return '';
  if (safe.length === 1) return `${indentation}/** ${safe[0]} */\n`;
  return `${indentation}/**\n${safe.map((line) => `${indentation} * ${line}\n`).join('')}${indentation} */\n`;
}

/** An object with types for both named and other keys. One interface cannot express a separate type for the other keys. */
function isWithOthers(type: StubType): type is ObjectType {
  return (
    type.kind === 'object' && type.fields.length > 0 && type.others !== undefined && type.others.kind !== 'unknown'
  );
}

function objectType(type: ObjectType, indentation: string, nameOf: (key: string) => string): string {
  const { fields, others } = type;
  if (isWithOthers(type)) {
    const named = objectType({ kind: 'object', fields, others: undefined }, indentation, nameOf);
    return `${named} & ${objectType({ kind: 'object', fields: [], others }, indentation, nameOf)}`;
  }
  const inner = `${indentation}  `;
  const members = fields.map((field) => member(field, inner, nameOf));
  if (others !== undefined) members.push(`[key: string]: ${typescriptType(others, inner, nameOf)}`);
  const isShort = members.every((text) => !text.includes('\n')) && fields.every(({ notes }) => notes.length === 0);
  const line = `{ ${members.join('; ')} }`;
  if (members.length === 0) return '{}';
  if (isShort && line.length <= ONE_LINE) return line;
  const lines = members.map((text, at) => `${typescriptComment(fields[at]?.notes ?? [], inner)}${inner}${text};\n`);
  return `{\n${lines.join('')}${indentation}}`;
}

function member({ name, type, required }: StubField, indentation: string, nameOf: (key: string) => string): string {
  const shown = PROPERTY_NAME.test(name) ? name : quotedLiteral(name);
  return `${shown}${required ? '' : '?'}: ${typescriptType(type, indentation, nameOf)}`;
}
