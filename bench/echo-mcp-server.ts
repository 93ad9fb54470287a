/** An MCP server over stdio whose only tool returns its input: the SDK without further work. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: z.strictObject({ code: z.string() }) }, async ({ code }) => ({
    content: [{ type: 'text', text: code }],
    structuredContent: { code },
  }));
  return server;
});
