import type { Tool } from '../../tools/define/tool.ts';
import { compileAtOnce } from '../../tools/schema/compile-tool-schema.ts';
import type { StubTool } from '../../tools/declarations/tool-places.ts';
import { toolStubs } from '../../tools/declarations/tool-stubs.ts';
import type { LanguageDefinition } from '../../contracts/jobs/language.ts';
import { oneLine } from '../../skills/text/text.ts';

/**
 * Declares tools in the language of programs; for a language without declarations, lists them with their schemas.
 *
 * @returns a promise if a schema is known only later
 * @throws SkillcellError `tool.schema-unsupported`
 */
export function declareTools(
  tools: readonly Tool[],
  { guide }: LanguageDefinition,
  budgetTokens: number,
): string | Promise<string> {
  if (tools.length === 0) return '';
  const write = (rows: readonly StubTool[]): string => written(rows, guide.declarations, budgetTokens);
  const rows = tools.map(stubOf);
  return rows.some((row) => row instanceof Promise)
    ? Promise.all(rows.map(async (row) => await row)).then(write)
    : write(rows as StubTool[]);
}

function stubOf(tool: Tool): StubTool | Promise<StubTool> {
  const { id, description, outside } = tool;
  const [input, output] = (['input', 'output'] as const).map((io) => {
    const schema = tool[io];
    return schema && compileAtOnce(schema, { io, subject: `the ${io} of ${id}`, outside });
  });
  if (!(input instanceof Promise) && !(output instanceof Promise))
    return { id, description, input: input?.json, output: output?.json };
  return Promise.all([input, output]).then(([goesIn, comesOut]) => {
    return { id, description, input: goesIn?.json, output: comesOut?.json };
  });
}

function written(
  rows: readonly StubTool[],
  tag: LanguageDefinition['guide']['declarations'],
  budgetTokens: number,
): string {
  if (tag === undefined) return `Tools that the program may call:\n${rows.map(listed).join('\n')}`;
  const { text, complete } = toolStubs(rows, tag, { budgetTokens });
  const what = complete ? 'as they are declared' : 'by their ids: they are too many to be declared here';
  // The text of a tool may hold a fence of its own.
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `Tools that the program may call, ${what}:\n${fence}${tag}\n${text}${fence}`;
}

function listed({ id, description, input }: StubTool): string {
  const line = `- ${id}: ${oneLine(description)}`;
  return input === undefined ? line : `${line}\n  arguments, as JSON schema: ${JSON.stringify(input)}`;
}
