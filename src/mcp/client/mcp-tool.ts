import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { outsideId } from '../../broker/outside-id.ts';
import { OUTSIDE_DESCRIPTION, plainLine, plainTexts } from '../../broker/outside-text.ts';
import type { Tool } from '../../broker/tool.ts';
import { ToolCallError } from '../../broker/tool-errors.ts';
import { withOrigin } from '../../broker/tool-origin.ts';
import { quotedText } from '../../contracts/quoted-text.ts';
import { detachBytes } from '../../protocol/value-bytes.ts';
import { callFailure, callValue } from './mcp-call.ts';
import type { McpToolOptions } from './mcp-tool-options.ts';
import type { ServerConnection } from './server-connection.ts';

/** A server, and what its tools have in common. */
export interface McpToolSource {
  alias: string;
  connection: ServerConnection;
  options: McpToolOptions;
}

/** A tool of a server as one of ours. What the server says of it is hostile, and part of it comes into prompts. */
export function mcpTool(listed: ListedTool, { alias, connection, options }: McpToolSource): Tool {
  const { name, title, description = title ?? '', inputSchema, outputSchema, annotations } = listed;
  const id = `${alias}.${outsideId(name)}`;
  const effect = annotations?.readOnlyHint === true ? 'read' : 'write';
  const { approval = 'never', ...limits } = options;
  const tool: Tool = {
    ...limits,
    id,
    description: plainLine(description).slice(0, OUTSIDE_DESCRIPTION),
    input: plainTexts(inputSchema) as Record<string, unknown>,
    ...(outputSchema === undefined ? {} : { output: plainTexts(outputSchema) as Record<string, unknown> }),
    outside: true,
    effect,
    approval: approval === 'write' ? (effect === 'write' ? 'always' : 'never') : approval,
    async execute(input, { signal }) {
      const result = await connection.call({ name, inputSchema }, jsonArguments(id, input), signal);
      if (result.isError !== true) return callValue(result);
      throw new ToolCallError('tool.failed', callFailure(result, connection.secrets));
    },
  };
  return withOrigin(tool, `the tool ${quotedText(name)} of the MCP server ${alias}`);
}

function jsonArguments(id: string, input: unknown): Record<string, unknown> {
  const { json, parts } = detachBytes(input, { jsonBytes: Infinity, partBytes: Infinity });
  if (parts.length === 0) return (json ?? {}) as Record<string, unknown>;
  throw new ToolCallError(
    'tool.invalid-arguments',
    `Cannot make the call: ${id} takes no bytes, for which MCP has no form; send a text, such as base64.`,
  );
}
