import { setTimeout } from 'node:timers/promises';
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { ToolCallError } from '../../tools/define/tool-errors.ts';
import type { LoadedSdk } from './transport/load-sdk.ts';

/** No limit of its own: the broker ends each call in time. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Repeats of a call that a server may ask for, as in the clients of the official SDKs, and the pause before each. */
const MAX_REPEATS = 10;
const PAUSE_MS = 250;

/** A call of a tool of a server. */
export interface McpToolCall {
  tool: Pick<Tool, 'name' | 'inputSchema'>;
  args: Record<string, unknown>;
  signal: AbortSignal;
  /** Alias of the server. */
  alias: string;
  /** Called before each repeat: the earlier attempt may have had its effect. */
  onRepeat(): void;
}

/**
 * Calls a tool, and repeats the call while the server returns only a state: it may be busy, or another of its machines has to continue.
 *
 * @throws ToolCallError `tool.failed` if the server asks for input, or does not finish; errors of the SDK
 */
export async function callUntilComplete(
  client: Client,
  sdk: LoadedSdk,
  { tool: { name, inputSchema }, args, signal, alias, onRepeat }: McpToolCall,
): Promise<CallToolResult> {
  const options = {
    signal,
    timeout: LONGEST_TIMER_MS,
    toolDefinition: { name, inputSchema },
    allowInputRequired: true,
  };
  let requestState: string | undefined;
  for (let repeats = 0; ; repeats += 1) {
    const state = requestState === undefined ? {} : { requestState };
    const result: unknown = await client.callTool({ name, arguments: args, ...state }, options);
    if (!sdk.isInputRequiredResult(result)) return result as CallToolResult;
    const asks = Object.keys(result.inputRequests ?? {}).length > 0;
    if (asks) throw failed(alias, 'asked for more input, which is not supported here');
    if (repeats === MAX_REPEATS)
      throw failed(alias, `asked for the same call more than ${MAX_REPEATS} times`, 'unknown');
    requestState = result.requestState;
    onRepeat();
    await setTimeout(PAUSE_MS, undefined, { signal });
  }
}

function failed(alias: string, words: string, effect: 'none' | 'unknown' = 'none'): ToolCallError {
  return new ToolCallError('tool.failed', `The MCP server ${alias} ${words}.`, { effect });
}
