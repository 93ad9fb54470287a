import * as z from 'zod/mini';
import { TOOL_NAME_CHARACTERS } from '../broker/broker-call.ts';
import { parametersFault, type OptionFault } from '../broker/parameters-fault.ts';
import type { ToolHandler } from '../broker/tool-handler.ts';

/** The tools of an orchestrator, by name. A tool may be an instance of a class: what is checked of it is only looked at. */
export const toolsSchema: z.ZodMiniType<ReadonlyMap<string, ToolHandler>> = z
  .custom<ReadonlyMap<string, ToolHandler>>(
    (value) => value instanceof Map,
    'must be a Map of { description, parameters?, execute } by name',
  )
  .check(
    z.superRefine((tools, context) => {
      for (const [name, tool] of tools as ReadonlyMap<unknown, unknown>) {
        const fault = isToolName(name) ? toolFault(tool) : undefined;
        if (fault !== undefined) context.addIssue({ code: 'custom', ...fault, path: [String(name), ...fault.path] });
        if (!isToolName(name)) {
          const path = [typeof name === 'number' ? name : String(name)];
          context.addIssue({ code: 'invalid_key', origin: 'map', path, issues: [WRONG_NAME] });
        }
      }
    }),
  );

const WRONG_NAME: z.core.$ZodIssueCustom = {
  code: 'custom',
  path: [],
  message: `must be a name of 1 to ${TOOL_NAME_CHARACTERS} characters`,
};

/** A call with another name is refused, so that nobody could call the tool. */
function isToolName(name: unknown): boolean {
  return typeof name === 'string' && name !== '' && name.length <= TOOL_NAME_CHARACTERS;
}

function toolFault(tool: unknown): OptionFault | undefined {
  if (typeof tool !== 'object' || tool === null)
    return { path: [], message: 'must be an object { description, parameters?, execute }' };
  const { description, parameters, execute } = tool as Record<keyof ToolHandler, unknown>;
  if (typeof description !== 'string') return { path: ['description'], message: 'must be a text' };
  if (typeof execute !== 'function') return { path: ['execute'], message: 'must be a function' };
  const fault = parametersFault(parameters);
  return fault && { ...fault, path: ['parameters', ...fault.path] };
}
