/** An MCP server whose tools write each call to a file as it begins. All hosts share the file. Argument: its path. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { JournalCall } from './replica-history.ts';

const [, , path = ''] = process.argv;
const server = new McpServer({ name: 'journal', version: '1.0.0' });
for (const tool of ['read', 'write'] as const) {
  server.registerTool(
    tool,
    {
      description: 'Takes a moment.',
      inputSchema: { name: z.string(), run: z.string() },
      annotations: { readOnlyHint: tool === 'read' },
    },
    async ({ name, run }) => {
      const call: JournalCall = { name, run, tool };
      appendFileSync(path, `${JSON.stringify(call)}\n`);
      await pause(50);
      return { content: [{ type: 'text', text: 'done' }] };
    },
  );
}
await server.connect(new StdioServerTransport());
