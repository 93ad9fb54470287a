import { setImmediate } from 'node:timers/promises';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { offerTool } from '../../tools/define/offered-tool.ts';
import { refuseConflicts } from '../../tools/define/refuse-conflicts.ts';
import { toolSchema, type Tool } from '../../tools/define/tool.ts';
import { toolOrigin } from '../../tools/define/tool-origin.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { closeBeforeExit } from '../../jobs/close-before-exit.ts';
import { headerFault } from './header-fault.ts';
import { loadSdk } from './transport/load-sdk.ts';
import { checkMcpServers, type McpServers } from './mcp-servers.ts';
import { mcpTool } from './mcp-tool.ts';
import { readConnectOptions, type McpConnectOptions } from './mcp-tool-options.ts';
import { ServerConnection } from './server-connection.ts';

/** A difference from the list of a server: a tool that was left out or renamed, or a server without tools. */
export interface McpToolNote {
  /** Alias of the server. */
  server: string;
  /** The tool as the server calls it; absent where the note is about the server. */
  tool?: string;
  what: 'left-out' | 'renamed' | 'no-tools';
  /** One line for people. */
  message: string;
}

/** Tools of MCP servers, and the connections behind them. */
export interface McpTools extends AsyncDisposable {
  /** For `createOrchestrator({ tools })`. */
  readonly tools: readonly Tool[];
  readonly notes: readonly McpToolNote[];
  /**
   * Ends the connections, and the servers that were started. Calls fail with `mcp.unavailable` from then on. Idempotent.
   *
   * @example
   * ```ts
   * import { connectMcpTools } from 'skillcell';
   *
   * const mcp = await connectMcpTools({});
   * await mcp.close();
   * console.log(mcp.tools.length);
   * // prints: 0
   * ```
   */
  close(): Promise<void>;
}

/**
 * Connects to MCP servers, of both protocol eras, and wraps their tools as `alias.name`. All checks of tools apply to them.
 * A server that ends is started again by a later call; all servers that were started end with this process.
 *
 * @param servers by alias: `{ command, args, env, cwd }` for a program, `{ url, headers }` for streamable HTTP
 * @param options options of all their tools
 * @returns the tools, notes about those that were left out or renamed, and `close()`
 * @throws SkillcellError `mcp.invalid`, `mcp.unavailable`, `tool.name-conflict` or `options.invalid`; then no server is left running
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { connectMcpTools, createOrchestrator } from 'skillcell';
 *
 * // Any MCP server works; this one is written by hand.
 * writeFileSync('clock.mjs', `import { createInterface } from 'node:readline';
 * const tool = { name: 'year', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
 * const results = {
 *   initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'clock', version: '1' } },
 *   'tools/list': { tools: [tool] },
 *   'tools/call': { content: [], structuredContent: { year: 1843 } },
 * };
 * for await (const line of createInterface(process.stdin)) {
 *   const { id, method } = JSON.parse(line);
 *   const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'Method not found' } };
 *   if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
 * }`);
 *
 * await using mcp = await connectMcpTools({ clock: { command: 'node', args: ['clock.mjs'] } });
 * await using orchestrator = createOrchestrator({ tools: mcp.tools });
 * const code = `import { tools } from 'skillcell';
 * console.log((await tools.clock.year({})).year);`;
 * console.log((await orchestrator.exec({ code, tools: ['clock.*'] })).stdout.text.trim());
 * // prints: 1843
 * ```
 */
export async function connectMcpTools(servers: McpServers, options: McpConnectOptions = {}): Promise<McpTools> {
  const { signal, connectTimeoutMs = 30_000, ...ofTools } = readConnectOptions(options);
  const entries = Object.entries(checkMcpServers(servers));
  signal?.throwIfAborted();
  const sdk = entries.length === 0 ? undefined : await loadSdk();
  const connections = entries.map(([alias, server]) => ({
    alias,
    connection: new ServerConnection({ alias, server, sdk: sdk as NonNullable<typeof sdk>, connectTimeoutMs }),
  }));
  const notes: McpToolNote[] = [];
  const close = async (): Promise<void> => {
    forget();
    await Promise.all(connections.map(({ connection }) => connection.close()));
  };
  const forget = entries.length === 0 ? () => undefined : closeBeforeExit(close);
  try {
    const all = await Promise.all(
      connections.map(async ({ alias, connection }) => {
        const listed = await connection.connect(signal);
        if (listed.length === 0)
          notes.push({ server: alias, what: 'no-tools', message: `The MCP server ${alias} offers no tools.` });
        const callable = connection.sendsHeaders ? withSendableHeaders(alias, listed, notes) : listed;
        const tools = callable.map((each) => mcpTool(each, { alias, connection, options: ofTools }));
        refuseConflicts(tools, `use the MCP server ${alias}`);
        return await usable(alias, callable, tools, notes);
      }),
    );
    return { tools: all.flat(), notes, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Keeps the tools whose arguments can be sent as headers if the server asks for that. */
function withSendableHeaders(server: string, listed: readonly ListedTool[], notes: McpToolNote[]): ListedTool[] {
  return listed.filter(({ name, inputSchema }) => {
    const fault = headerFault(inputSchema);
    if (fault === undefined) return true;
    const message = `Cannot offer the tool ${quotedText(name)} of the MCP server ${server}: ${fault}.`;
    notes.push({ server, tool: name, what: 'left-out', message });
    return false;
  });
}

/** Keeps the tools whose schemas can be enforced completely. Compiling many schemas takes time, so other work gets its turn in between. */
async function usable(
  server: string,
  listed: readonly { name: string }[],
  tools: readonly Tool[],
  notes: McpToolNote[],
): Promise<Tool[]> {
  const kept: Tool[] = [];
  for (const [index, tool] of tools.entries()) {
    const name = listed[index]?.name ?? '';
    await setImmediate();
    try {
      checkOptions(toolSchema, tool, { action: `offer ${tool.id}`, whole: 'the tool' });
      await offerTool(tool);
    } catch (error) {
      if (!SkillcellError.isInstance(error)) throw error;
      notes.push({ server, tool: name, what: 'left-out', message: error.message });
      continue;
    }
    kept.push(tool);
    if (tool.id !== `${server}.${name}`)
      notes.push({ server, tool: name, what: 'renamed', message: `${toolOrigin(tool)} is offered as ${tool.id}.` });
  }
  return kept;
}
