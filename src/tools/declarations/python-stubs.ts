import { asObject, isPythonName, pythonComment, pythonType, typedDict, type PythonTypes } from './python-types.ts';
import { isOptional } from './read/is-optional.ts';
import { quotedLiteral } from './read/quoted-literal.ts';
import { readSchema } from './read/read-schema.ts';
import { toolNotes } from './tool-notes.ts';
import { stubDraft, type StubDraft } from './stub-draft.ts';
import type { ObjectType, StubSchema } from './read/stub-type.ts';
import { placeTools, type StubTool, type ToolPlaces } from './tool-places.ts';

/** The most characters of a function on one line. */
const ONE_LINE = 110;

/**
 * Declares tools in Python, as the object that programs import.
 *
 * @param tools in order
 * @param limit most characters; beyond them, writing stops, because the result is discarded
 * @returns the text of a `.pyi` for `from skillcell import tools`, without its imports; undefined when it would be longer than the limit
 */
export function pythonStubs(tools: readonly StubTool[], limit: number): string | undefined {
  const draft = stubDraft(limit);
  const { places, byCall } = placeTools(tools, 'python');
  const write = (space: ToolPlaces<StubTool>, indentation: string): string => {
    const functions = Array.from(space.tools, ([name, tool]) => method(tool, name, indentation, draft));
    const spaces = Array.from(space.spaces, ([name, inner]) => {
      return `${indentation}class ${name}:\n${write(inner, `${indentation}    `)}`;
    });
    return [...functions, ...spaces].join('');
  };
  const plain = write(places, '    ');
  const called = byCall.map((tool) => callMethod(tool, byCall.length > 1, draft));
  if (draft.isOver) return undefined;
  const body = `${plain}${called.join('')}`;
  return `${draft.definitions.join('')}class tools:\n${body === '' ? '    ...\n' : body}`;
}

function method(tool: StubTool, name: string, indentation: string, draft: StubDraft): string {
  if (draft.isOver) return '';
  const { input, inputTypes, answer, notes } = readTool(tool, draft);
  const object = asObject(input.type, input.definitions);
  const isOfNames = object !== undefined && object.fields.every((field) => isPythonName(field.name));
  const parameters = isOfNames
    ? keywordParameters(object, inputTypes, tool.id, `${indentation}    `)
    : [`input: ${pythonType(input.type, inputTypes, [tool.id, 'Input'])}${defaultOf(input)}`, '/'];
  const line = `${indentation}def ${name}(${parameters.join(', ')}) -> ${answer}: ...\n`;
  const isShort = line.length <= ONE_LINE && !parameters.some((text) => text.includes('\n'));
  const lines = parameters.map((text) => `${indentation}    ${text},\n`).join('');
  const text = isShort ? line : `${indentation}def ${name}(\n${lines}${indentation}) -> ${answer}: ...\n`;
  return draft.count(`${pythonComment(notes, indentation)}${indentation}@staticmethod\n${text}`);
}

function callMethod(tool: StubTool, isOverloaded: boolean, draft: StubDraft): string {
  if (draft.isOver) return '';
  const { input, inputTypes, answer, notes } = readTool(tool, draft);
  const parameter = pythonType(input.type, inputTypes, [tool.id, 'Input']);
  const overload = isOverloaded ? '    @overload\n' : '';
  const head = `    def call(id: Literal[${quotedLiteral(tool.id)}], input: ${parameter}${defaultOf(input)}, /)`;
  return draft.count(`${pythonComment(notes, '    ')}${overload}    @staticmethod\n${head} -> ${answer}: ...\n`);
}

/** Default of an optional parameter. */
function defaultOf(input: StubSchema): string {
  return isOptional(input) ? ' = ...' : '';
}

interface ReadTool {
  input: StubSchema;
  inputTypes: PythonTypes;
  /** Type of its result. */
  answer: string;
  notes: string[];
}

function readTool(tool: StubTool, draft: StubDraft): ReadTool {
  const input = readSchema(tool.input ?? true);
  const output = readSchema(tool.output ?? true);
  const inputTypes = define(input, tool.id, draft);
  const answer = pythonType(output.type, define(output, tool.id, draft), [tool.id, 'Result']);
  return { input, inputTypes, answer, notes: toolNotes(tool.description, input, output) };
}

function keywordParameters(object: ObjectType, types: PythonTypes, toolId: string, indentation: string): string[] {
  const { fields, others } = object;
  const named = fields.map(({ name, type, required, notes }) => {
    const comment = pythonComment(notes, indentation).trimStart();
    const text = `${name}: ${pythonType(type, types, [toolId, name])}${required ? '' : ' = ...'}`;
    return comment === '' ? text : `${comment}${indentation}${text}`;
  });
  const taken = new Set(fields.map(({ name }) => name));
  let rest = 'others';
  while (taken.has(rest)) rest += '_';
  const star = named.length === 0 ? [] : ['*'];
  if (others === undefined || others.kind === 'never') return [...star, ...named];
  return [...star, ...named, `**${rest}: ${pythonType(others, types, [toolId, 'Value'])}`];
}

/** Names and writes the definitions of one schema. */
function define({ definitions }: StubSchema, toolId: string, draft: StubDraft): PythonTypes {
  const known = new Map(Array.from(definitions, ([key, { name }]) => [key, draft.names(name === '' ? toolId : name)]));
  const types: PythonTypes = { draft, known, definitions };
  for (const [key, { type, notes }] of definitions) {
    const name = known.get(key) ?? '';
    const object = asObject(type, definitions);
    if (object !== undefined && object.fields.length > 0) {
      draft.define(typedDict(name, object, notes, types));
    } else draft.define(`${pythonComment(notes, '')}${name} = ${pythonType(type, types, [name])}\n`);
  }
  return types;
}
