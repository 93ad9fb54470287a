import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { CLIENTS, type ClientKind, type McpClient, startMcpClient } from '../fixtures/mcp-clients/mcp-client.ts';
import { levelFlags, startMcpServer, stdioConnection, TOKEN } from '../fixtures/mcp-server.ts';
import { ownerOf, outsideView } from '../chaos/outside-view.ts';
import { tmpdir } from 'node:os';
import { until } from '../fixtures/until.ts';

const TRANSPORTS = ['stdio', 'HTTP'] as const;
const ROWS = CLIENTS.flatMap((kind) => TRANSPORTS.map((transport) => ({ kind, transport })));
const ENDLESS = 'console.log("up"); setInterval(() => {}, 1_000);';

interface Connected extends AsyncDisposable {
  client: McpClient;
  /** The process of the server. */
  pid: number;
  revision: string;
}

/** A client that is connected to a real server, both as processes. */
async function connect(
  kind: ClientKind,
  transport: 'stdio' | 'HTTP',
  flags: readonly string[] = [],
): Promise<Connected> {
  const all = [...(await levelFlags(BEST_LEVEL)), ...flags];
  const client = startMcpClient(kind);
  if (transport === 'stdio') {
    const { pid, revision } = await client.connect(stdioConnection(all));
    return { client, pid: pid ?? 0, revision, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
  }
  const server = await startMcpServer(all);
  const { revision } = await client.connect({ url: server.url, token: TOKEN });
  return {
    client,
    pid: server.process.pid ?? 0,
    revision,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Waits until a server has no sandbox any more. */
async function sandboxesGone(pid: number): Promise<void> {
  const view = outsideView(tmpdir(), undefined);
  await until(async () => (await view.leftovers(ownerOf(pid) ?? 'no-owner')).length === 0, 'an end of the sandboxes');
}

describe.each(ROWS)('a client on $kind over $transport', ({ kind, transport }) => {
  let connected: Connected;
  beforeAll(async () => {
    connected = await connect(kind, transport);
  });
  afterAll(() => connected[Symbol.asyncDispose]());

  it('finds the tools, each with strict arguments, a schema of its results and hints', async () => {
    const { client, revision } = connected;
    if (kind === 'v2, newest revision') expect(revision).toBe('2026-07-28');
    const tools = await client.tools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'close_session',
      'list_skills',
      'load_skill',
      'open_session',
      'read_skill_file',
      'run_code',
      'run_skill_script',
      'run_task',
      'search_skills',
    ]);
    for (const { inputSchema, outputSchema, annotations } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: 'object' });
      expect(annotations).toHaveProperty('readOnlyHint');
    }
    const reading = tools.filter(({ annotations }) => (annotations as { readOnlyHint: boolean }).readOnlyHint);
    expect(reading.map(({ name }) => name)).toEqual(['list_skills', 'search_skills', 'load_skill', 'read_skill_file']);
  });

  it('runs a program, receives its progress, and reads its artifacts', async () => {
    const { client } = connected;
    const code = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.SKILLCELL_OUTPUT + '/a b.txt', 'left behind');
console.log('x'.repeat(100_000));
export default { sum: 42 };`;
    const { result, progress } = await client.call({ name: 'run_code', arguments: { code, expect: ['a b.txt'] } });
    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toMatchObject({ outcome: 'succeeded', value: { sum: 42 } });
    expect(progress.join('\n')).toContain(`isolation ${BEST_LEVEL}`);
    const links = result.content.filter(({ type }) => type === 'resource_link');
    expect(links.map(({ name, size }) => [name, size])).toEqual([
      ['stdout', 100_001],
      ['a b.txt', 11],
    ]);
    const [stdout, artifact] = await Promise.all(links.map(({ uri = '' }) => client.read(uri)));
    expect(stdout?.contents[0]?.text).toBe(`${'x'.repeat(100_000)}\n`);
    expect(artifact?.contents[0]?.text).toBe('left behind');
    expect((result.structuredContent['stdout'] as { text: string }).text.length).toBeLessThan(20_000);
  });

  it('gets a failing program as an error with its structured result', async () => {
    const result = await connected.client.run('run_code', { code: '\nthrow new RangeError("too far");' });
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({
      outcome: 'failed',
      exitCode: 1,
      error: { name: 'RangeError', message: 'too far', line: 2 },
    });
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
  });

  it('gets an error with a code and advice for each forbidden request', async () => {
    const refusals = await Promise.all([
      connected.client.run('run_code', { code: '1', languages: 'python' }),
      connected.client.run('run_code', { code: '1', timeoutMs: 600_000 }),
      connected.client.run('run_code', { code: '1', files: { '../out.txt': 'x' } }),
      connected.client.run('run_code', { code: '1', session: 'none' }),
      connected.client.run('run_task', { task: 'Add.' }),
      connected.client.run('load_skill', { skill: 'custom.none' }),
      connected.client.run('run_skill_script', { skill: 'public.chart', script: '../x.py' }),
    ]);
    expect(refusals.map(({ isError }) => isError)).toEqual(refusals.map(() => true));
    expect(refusals.map(({ structuredContent }) => (structuredContent['error'] as { code: string }).code)).toEqual([
      'options.invalid',
      'job.invalid',
      'job.invalid',
      'session.ended',
      'model.not-configured',
      'skills.reference-unknown',
      'script.not-listed',
    ]);
    for (const { structuredContent } of refusals) {
      expect(structuredContent['error']).toEqual({
        code: expect.any(String) as string,
        message: expect.stringMatching(/^Cannot .*[.?]$|^There is no .*\.$/) as string,
        hint: expect.stringMatching(/\.$/) as string,
      });
    }
  });

  it('ends a job by canceling its call', async () => {
    const { client, pid } = connected;
    const call = { name: 'run_code', arguments: { code: ENDLESS }, cancelAt: 'isolation' };
    await expect(client.call(call)).rejects.toThrow();
    await sandboxesGone(pid);
    // The connection works as before.
    expect((await client.run('run_code', { code: 'console.log(1)' })).structuredContent).toMatchObject({
      outcome: 'succeeded',
    });
  });

  it('ends its jobs by disconnecting', async () => {
    const { client, pid } = connected;
    const owner = ownerOf(pid) ?? 'no-owner';
    const view = outsideView(tmpdir(), undefined);
    client.run('run_code', { code: ENDLESS }).catch(() => undefined);
    await until(() => view.processes(owner).length > 0, 'the program');
    client.process.kill('SIGKILL');
    await until(async () => (await view.leftovers(owner)).length === 0, 'an end of the sandbox');
    // A stdio server ends as well; a server that listens goes on.
    if (transport === 'stdio') await until(() => ownerOf(pid) === undefined, 'an end of the server');
    expect(ownerOf(pid)).toBe(transport === 'stdio' ? undefined : owner);
  });
});
