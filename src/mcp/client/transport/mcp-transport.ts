import type { Transport } from '@modelcontextprotocol/client';

/** A transport of ours: bounded, and with words for how it ended. */
export interface McpTransport extends Transport {
  /** Why the connection ended, where that was not asked for; it follows "the MCP server crm". */
  readonly fault: string | undefined;
  /** Keeps this process alive for it, or not. */
  ref(): void;
  unref(): void;
}
