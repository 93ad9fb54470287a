import type { ToolDescription } from '../../contracts/jobs/globals.ts';
import type { CompiledSchema } from '../schema/tool-schema.ts';
import type { Tool } from './tool.ts';

/** A tool of a job, with its compiled schemas. */
export interface OfferedTool {
  tool: Tool;
  input: CompiledSchema | undefined;
  output: CompiledSchema | undefined;
}

const offered = new WeakMap<Tool, Promise<OfferedTool>>();

/**
 * Prepares a tool for calls, once for all jobs that have it.
 *
 * @throws SkillcellError `tool.schema-unsupported`, naming tool and keyword
 */
export function offerTool(tool: Tool): Promise<OfferedTool> {
  const known = offered.get(tool);
  if (known !== undefined) return known;
  const made = compile(tool);
  offered.set(tool, made);
  return made;
}

async function compile(tool: Tool): Promise<OfferedTool> {
  const [input, output] = await Promise.all([compileSchema(tool, 'input'), compileSchema(tool, 'output')]);
  return { tool, input, output };
}

async function compileSchema(tool: Tool, io: 'input' | 'output'): Promise<CompiledSchema | undefined> {
  const schema = tool[io];
  if (schema === undefined) return undefined;
  // Most jobs have no tools, so the compiler is loaded late.
  const { compileToolSchema } = await import('../schema/compile-tool-schema.ts');
  return await compileToolSchema(schema, { io, subject: `the ${io} of ${tool.id}`, outside: tool.outside });
}

/** Description of a tool for the sandbox. */
export function describeTool({ tool, input }: OfferedTool): ToolDescription {
  const { id, description } = tool;
  return { id, description, ...(input === undefined ? {} : { input: input.json }) };
}
