/** A conversation of an MCP client with skillcell: it finds a skill, loads it, and runs its script. `node examples/mcp/mcp.ts`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const server = new StdioClientTransport({
  command: process.execPath,
  // Runs at the best isolation level of this machine, even without isolation.
  args: [path('../../bin/skillcell.js'), 'mcp', '--descriptor', path('bundle.json'), '--isolation', 'none'],
  env: Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value])),
});
const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(server);
console.log(`connected to ${client.getServerVersion()?.name ?? ''} by the protocol of ${client.getNegotiatedProtocolVersion() ?? ''}`);

/** Calls a tool and prints the call. */
async function call(name: string, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const shown = JSON.stringify(given, (_key, value: unknown) => (String(value).length > 60 ? '…' : value));
  console.log(`→ ${name} ${shown}`);
  const { structuredContent, isError = false } = await client.callTool({ name, arguments: given });
  if (isError) console.log('← an error');
  return structuredContent as Record<string, unknown>;
}

const { skills } = await call('list_skills', {});
for (const { id, brief } of skills as { id: string; brief: string }[]) if (id.startsWith('custom.')) console.log(`← ${id}: ${brief}`);

const loaded = await call('load_skill', { skill: 'custom.invoices' });
console.log(`← ${String(loaded['instructions']).trim().replaceAll('\n', '\n  ')}`);

// The same skill through the extension for skills: the library compares every file with its digest.
const verified = new SkillsClient(client);
const { skills: entries } = await verified.list();
const entry = entries.find(({ uri }) => uri === 'skill://custom/invoices/SKILL.md');
if (entry === undefined || entry.resources === 'dynamic') throw new Error('the skill is not served');
for (const { uri } of entry.resources) console.log(`← ${uri}, verified: ${(await verified.read(entry, uri)).verified}`);

const result = await call('run_skill_script', {
  skill: 'custom.invoices',
  script: 'scripts/sum.py',
  args: ['invoices.csv'],
  files: { 'invoices.csv': readFileSync(path('../decision/invoices.csv'), 'utf8') },
  expect: ['sums.csv'],
});
console.log(`← ${String(result['outcome'])}: ${JSON.stringify(result['value'])}`);

const [sums] = result['artifacts'] as { path: string; uri: string }[];
console.log(`→ resources/read ${sums?.path ?? ''}`);
const { contents } = await client.readResource({ uri: sums?.uri ?? '' });
for (const content of contents) if ('text' in content) console.log(`← ${content.text.trim().replaceAll(/\r?\n/g, '\n  ')}`);

const failed = await call('run_skill_script', { skill: 'custom.invoices', script: 'scripts/none.py' });
console.log(`← ${(failed['error'] as { code: string }).code}`);
await client.close();
