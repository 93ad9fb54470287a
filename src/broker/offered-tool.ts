import * as z from 'zod/mini';
import type { ToolDescription } from '../contracts/globals.ts';
import { checkArguments } from './check-arguments.ts';
import { isZodSchema, type ToolSchema } from './schema-source.ts';
import type { Tool } from './tool.ts';

/** A schema that can be enforced. */
export interface CompiledSchema {
  json: Record<string, unknown>;
  check(value: unknown): Promise<{ value: unknown } | { fault: string }>;
}

/** A tool that a job has: its schemas can be enforced. */
export interface OfferedTool {
  tool: Tool;
  input: CompiledSchema | undefined;
  output: CompiledSchema | undefined;
}

const offered = new WeakMap<Tool, Promise<OfferedTool>>();

/**
 * Makes a tool ready to be called; once for all jobs that have it.
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
  return { tool, input: compileSchema(tool.input, 'input'), output: compileSchema(tool.output, 'output') };
}

function compileSchema(schema: ToolSchema | undefined, io: 'input' | 'output'): CompiledSchema | undefined {
  if (schema === undefined) return undefined;
  const json = isZodSchema(schema) ? z.toJSONSchema(schema, { io }) : schema;
  return {
    json: { ...json },
    async check(value) {
      const checked = await checkArguments(value, schema);
      return 'fault' in checked ? checked : { value: checked.args };
    },
  };
}

/** What the sandbox is told of a tool. */
export function describeTool({ tool, input }: OfferedTool): ToolDescription {
  const { id, description } = tool;
  return { id, description, ...(input === undefined ? {} : { input: input.json }) };
}
