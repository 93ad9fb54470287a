import { quotedLiteral } from './read/quoted-literal.ts';
import { readSchema } from './read/read-schema.ts';
import { stubDraft, type StubDraft } from './stub-draft.ts';
import { isOptional } from './read/is-optional.ts';
import type { StubSchema } from './read/stub-type.ts';
import { toolNotes } from './tool-notes.ts';
import { placeTools, type StubTool, type ToolPlaces } from './tool-places.ts';
import { typescriptComment, typescriptType } from './typescript-types.ts';

const MODULE = "declare module 'skillcell'";

/**
 * Declares tools in TypeScript, as the module that programs import them from.
 *
 * @param tools in order
 * @param limit most characters; beyond them, writing stops, because the result is discarded
 * @returns a whole `.d.ts`; undefined when it would be longer than the limit
 */
export function typescriptStubs(tools: readonly StubTool[], limit: number): string | undefined {
  const draft = stubDraft(limit);
  const { places, byCall } = placeTools(tools, 'typescript');
  const write = (space: ToolPlaces<StubTool>, indentation: string): string => {
    const functions = Array.from(space.tools, ([name, tool]) =>
      // Without quotes this name would declare a constructor.
      toolFunction(tool, name === 'new' ? '"new"(' : `${name}(`, indentation, draft),
    );
    const spaces = Array.from(space.spaces, ([name, inner]) => {
      return `${indentation}${name}: {\n${write(inner, `${indentation}  `)}${indentation}};\n`;
    });
    return [...functions, ...spaces].join('');
  };
  const plain = write(places, '    ');
  const called = byCall.map((tool) => toolFunction(tool, `call(id: ${quotedLiteral(tool.id)}, `, '    ', draft));
  if (draft.isOver) return undefined;
  return `${MODULE} {\n${draft.definitions.join('')}  export const tools: {\n${plain}${called.join('')}  };\n}\n`;
}

function toolFunction(tool: StubTool, head: string, indentation: string, draft: StubDraft): string {
  if (draft.isOver) return '';
  const input = readSchema(tool.input ?? true);
  const output = readSchema(tool.output ?? true);
  const inputNames = define(input, tool.id, draft);
  const outputNames = define(output, tool.id, draft);
  const parameter = `input${isOptional(input) ? '?' : ''}: ${typescriptType(input.type, indentation, inputNames)}`;
  const answer = typescriptType(output.type, indentation, outputNames);
  const comment = typescriptComment(toolNotes(tool.description, input, output), indentation);
  return draft.count(`${comment}${indentation}${head}${parameter}): Promise<${answer}>;\n`);
}

/** Writes the definitions of one schema, and returns the lookup of their names. */
function define({ definitions }: StubSchema, toolId: string, draft: StubDraft): (key: string) => string {
  const given = new Map(Array.from(definitions, ([key, { name }]) => [key, draft.names(name === '' ? toolId : name)]));
  const nameOf = (key: string): string => given.get(key) ?? 'unknown';
  for (const [key, { type, notes }] of definitions) {
    const text = typescriptType(type, '  ', nameOf);
    draft.define(`${typescriptComment(notes, '  ')}  type ${nameOf(key)} = ${text};\n`);
  }
  return nameOf;
}
