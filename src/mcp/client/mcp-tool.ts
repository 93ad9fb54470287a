import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/client';
import { outsideId } from '../../tools/define/outside-id.ts';
import { OUTSIDE_DESCRIPTION, plainLine, plainMessage, plainTexts } from '../../tools/define/outside-text.ts';
import type { Tool } from '../../tools/define/tool.ts';
import { ToolCallError } from '../../tools/define/tool-errors.ts';
import { withOrigin } from '../../tools/define/tool-origin.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { detachBytes } from '../../protocol/messages/value-bytes.ts';
import type { McpToolOptions } from './mcp-tool-options.ts';
import type { ServerConnection } from './server-connection.ts';

type Content = CallToolResult['content'][number];

/** A server, and the options of its tools. */
export interface McpToolSource {
  alias: string;
  connection: ServerConnection;
  options: McpToolOptions;
}

/** Wraps a tool of a server. Its texts are hostile, and a part of them enters prompts. */
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

/**
 * The value of a call: its structured content, else its content: no part is `null`, one part is that part, more parts are a list. Texts stay
 * texts; bytes are `Uint8Array`, with their media type beside them.
 */
function callValue({ structuredContent, content }: CallToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const parts = content.map(partOf);
  return parts.length > 1 ? parts : (parts[0] ?? null);
}

function partOf(part: Content): unknown {
  if (part.type === 'text') return part.text;
  if (part.type === 'image' || part.type === 'audio') return { mediaType: part.mimeType, bytes: bytesOf(part.data) };
  if (part.type === 'resource_link') {
    const { uri, name, description, mimeType } = part;
    return { uri, name, description, mediaType: mimeType };
  }
  const { uri, mimeType, ...held } = part.resource;
  return { uri, mediaType: mimeType, ...('text' in held ? { text: held.text } : { bytes: bytesOf(held.blob) }) };
}

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}

/** The texts of a failed call, in one line. */
function callFailure({ content }: CallToolResult, secrets: readonly string[]): string {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text.trim()] : [])).join(' ');
  return plainMessage(text === '' ? undefined : text.slice(0, 4_000).replaceAll(/\s+/g, ' '), secrets);
}
