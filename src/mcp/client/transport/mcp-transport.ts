import type { Transport } from '@modelcontextprotocol/client';

/** A bounded transport, with words for its end. */
export interface McpTransport extends Transport {
  /** Why the connection ended, if that was not asked for; it follows "the MCP server crm". */
  readonly fault: string | undefined;
  /** Makes the connection keep this process alive, until `unref`. */
  ref(): void;
  unref(): void;
}
