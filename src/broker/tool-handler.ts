import * as z from 'zod/mini';
import type { ToolDescription } from '../contracts/globals.ts';

/** What a tool is told beside its arguments. The job comes from the channel, never from the call. */
export interface ToolContext {
  /** Aborted when the job ends before the tool does. */
  signal: AbortSignal;
  jobId: string;
}

/** A zod schema of any flavour, or a JSON schema. Both are enforced before the tool runs. */
export type ToolParameters = z.core.$ZodType | Record<string, unknown>;

/** A function of the host that sandboxed code may call by its name. */
export interface ToolHandler {
  /** One or two sentences; the model reads them. */
  description: string;
  /** Without it any JSON value is taken. */
  parameters?: ToolParameters;
  /**
   * Runs on the host with the host's rights. Its arguments are hostile input; paths and addresses in them are for the
   * tool to judge. What it returns must be JSON of at most 256 KiB. Only the message of a {@link ToolError} reaches the
   * sandbox; of every other error the sandbox learns that the tool failed.
   *
   * @example
   * ```ts
   * import { createOrchestrator, type ToolHandler } from 'skillcell';
   *
   * const square: ToolHandler = {
   *   description: 'Squares a number.',
   *   parameters: { type: 'object', properties: { of: { type: 'number' } }, required: ['of'] },
   *   async execute(args) {
   *     const { of } = args as { of: number };
   *     return of * of;
   *   },
   * };
   * await using orchestrator = createOrchestrator({ tools: new Map([['square', square]]) });
   * const code = "import { callTool } from 'skillcell';\nconsole.log(await callTool('square', { of: 7 }));";
   * console.log((await orchestrator.exec({ code })).stdout.text.trim());
   * // prints: 49
   * ```
   */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/**
 * An error whose message a tool wants the sandboxed code to read.
 *
 * @example
 * ```ts
 * import { createOrchestrator, ToolError, type ToolHandler } from 'skillcell';
 *
 * const station: ToolHandler = {
 *   description: 'Finds a station.',
 *   execute: () => Promise.reject(new ToolError('There is no such station.')),
 * };
 * await using orchestrator = createOrchestrator({ tools: new Map([['station', station]]) });
 * const code = `import { callTool } from 'skillcell';
 * await callTool('station', {}).catch((error) => console.log(error.message));`;
 * console.log((await orchestrator.exec({ code })).stdout.text.trim());
 * // prints: There is no such station.
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** Whether the parameters are a zod schema. */
export function isZodSchema(parameters: object): parameters is z.core.$ZodType {
  return '_zod' in parameters;
}

/**
 * Describes tools for the runtime globals and the prompt.
 *
 * @param tools handlers by name
 * @returns the descriptions, in the order of the map
 */
export function describeTools(tools: ReadonlyMap<string, ToolHandler>): ToolDescription[] {
  return Array.from(tools, ([name, { description, parameters }]) => {
    if (parameters === undefined) return { name, description };
    const schema = isZodSchema(parameters) ? z.toJSONSchema(parameters, { io: 'input' }) : parameters;
    return { name, description, parameters: { ...schema } };
  });
}
