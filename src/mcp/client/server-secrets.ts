import type { McpServer } from './mcp-servers.ts';

/** Where a server says which values in it are secret beside those of its variables and headers. It stays on a copy that a caller makes. */
const SECRETS: unique symbol = Symbol('secrets');

/** A server with values that no message may repeat, wherever in it they stand. */
export function withSecrets(server: McpServer, secrets: readonly string[]): McpServer {
  const marked = { ...server, [SECRETS]: secrets };
  return marked;
}

/** Those values. */
export function keptSecrets(server: McpServer): readonly string[] {
  return (server as { [SECRETS]?: readonly string[] })[SECRETS] ?? [];
}
