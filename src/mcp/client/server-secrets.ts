import type { McpServer } from './mcp-servers.ts';

/** Key of the secret values of a server beside its variables and headers. A copy that a caller makes keeps it. */
const SECRETS: unique symbol = Symbol('secrets');

/** Marks values of a server that no message may repeat. */
export function withSecrets(server: McpServer, secrets: readonly string[]): McpServer {
  const marked = { ...server, [SECRETS]: secrets };
  return marked;
}

/** The values that `withSecrets` marked. */
export function keptSecrets(server: McpServer): readonly string[] {
  return (server as { [SECRETS]?: readonly string[] })[SECRETS] ?? [];
}
