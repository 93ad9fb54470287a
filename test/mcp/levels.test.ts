import { tmpdir } from 'node:os';
import { afterAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { ownerOf, outsideView } from '../chaos/outside-view.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { dockerImage } from '../fixtures/docker-image.ts';
import { EVERY_LEVEL, type EachLevel, requireEachLevel } from '../fixtures/every-level.ts';
import { BY_FLEET } from '../fixtures/fleet/fleet-of-tests.ts';
import { type McpClient, startMcpClient } from '../fixtures/mcp-clients/mcp-client.ts';
import { levelFlags, stdioConnection } from '../fixtures/mcp-server.ts';
import { sweepUntil } from '../fixtures/sweep-until.ts';
import { until } from '../fixtures/until.ts';

/** The smallest possible picture. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.each(EVERY_LEVEL)('a server whose jobs have level %s', (level) => {
  let client: McpClient;
  let pid = 0;
  let starting: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    client = startMcpClient('v2');
    ({ pid } = { pid: (await client.connect(stdioConnection(await levelFlags(level)))).pid ?? 0 });
  };
  beforeEach(async (context) => {
    requireEachLevel(context, level);
    await (starting ??= start());
  });
  afterAll(async () => {
    if (starting !== undefined) await client[Symbol.asyncDispose]();
  });

  it('runs programs at that level, with input files and artifacts', async () => {
    const code = `import { copyFileSync, readFileSync } from 'node:fs';
copyFileSync('pixel.png', process.env.SKILLCELL_OUTPUT + '/pixel.png');
console.log(process.argv.slice(2).join(' '), process.env.GIVEN, readFileSync('notes/a.txt', 'utf8'), readFileSync(0, 'utf8'));`;
    const { structuredContent, content } = await client.run('run_code', {
      code,
      files: { 'pixel.png': { base64: PIXEL }, 'notes/a.txt': 'noted' },
      args: ['one', 'two'],
      env: { GIVEN: 'given' },
      stdin: 'typed',
      expect: ['pixel.png'],
    });
    expect(structuredContent).toMatchObject({
      outcome: 'succeeded',
      isolation: level,
      stdout: { text: 'one two given noted typed\n' },
      artifacts: [{ path: 'pixel.png', mediaType: 'image/png' }],
    });
    expect(content.find(({ type }) => type === 'image')?.data).toBe(PIXEL);
    const link = content.find(({ type }) => type === 'resource_link');
    expect((await client.read(link?.uri ?? '')).contents[0]?.blob).toBe(PIXEL);
  });

  it('reports a program that runs for too long, or misses its outputs, as an error', async () => {
    const endless = client.run('run_code', { code: 'for (;;);', timeoutMs: 500 });
    const without = client.run('run_code', { code: '1', expect: ['report.md'] });
    expect(await endless).toMatchObject({ isError: true, structuredContent: { outcome: 'timeout' } });
    expect(await without).toMatchObject({
      isError: true,
      structuredContent: { outcome: 'failed', contract: { missing: ['report.md'] } },
    });
  });

  it('keeps definitions and files in a session, and returns its artifacts when it is closed', async () => {
    const opened = await client.run('open_session', { files: { 'data.txt': '3 4' } });
    const { session } = opened.structuredContent as { session: string };
    const run = async (code: string, more: object = {}): Promise<Record<string, unknown>> =>
      (await client.run('run_code', { session, code, ...more })).structuredContent;
    expect(
      await run("const [a, b] = (await import('node:fs')).readFileSync('data.txt', 'utf8').split(' ').map(Number);"),
    ).toMatchObject({
      run: 1,
      state: 'kept',
      outcome: 'succeeded',
    });
    expect(await run('Math.hypot(a, b)')).toMatchObject({ session, run: 2, value: 5, results: [] });
    expect(await run('throw new Error("oh")')).toMatchObject({ run: 3, outcome: 'failed', error: { message: 'oh' } });
    const more = { files: { 'more.txt': 'later' } };
    expect(await run("(await import('node:fs')).readFileSync('more.txt', 'utf8') + a", more)).toMatchObject({
      value: 'later3',
    });
    expect(await run('process.env.ONCE', { env: { ONCE: 'given' } })).toMatchObject({ value: 'given' });
    expect(await run('process.env.ONCE')).not.toHaveProperty('value');
    await run("(await import('node:fs')).writeFileSync(process.env.SKILLCELL_OUTPUT + '/kept.txt', 'kept')");
    const closed = await client.run('close_session', { session });
    expect(closed.structuredContent).toMatchObject({ jobId: session, artifacts: [{ path: 'kept.txt' }] });
    const link = closed.content.find(({ type }) => type === 'resource_link');
    expect((await client.read(link?.uri ?? '')).contents[0]?.text).toBe('kept');
    expect((await client.run('run_code', { session, code: '1' })).structuredContent).toMatchObject({
      error: { code: 'session.ended' },
    });
  });

  it('stops a run of a session whose call is canceled, and keeps the session', async () => {
    const opened = await client.run('open_session', {});
    const { session } = opened.structuredContent as { session: string };
    await client.run('run_code', { session, code: 'globalThis.begun = 0;' });
    // Progress announces a run before it starts; its call of an unknown tool shows that it has begun.
    const code =
      "import { tools } from 'skillcell'; begun += 1; await tools.call('none', {}).catch(() => undefined); await new Promise((resolve) => setTimeout(resolve, 600_000));";
    const canceled = client.call({ name: 'run_code', arguments: { session, code }, cancelAt: 'refused' });
    await expect(canceled).rejects.toThrow();
    const next = await client.run('run_code', { session, code: 'begun' });
    expect(next.structuredContent).toMatchObject({ outcome: 'succeeded', value: 1 });
    await client.run('close_session', { session });
  });

  it('shows the displayed results of a session', async (context) => {
    requirePython(context, level);
    const opened = await client.run('open_session', { language: 'python' });
    const { session } = opened.structuredContent as { session: string };
    const code = `import base64
class Picture:
    def _repr_png_(self):
        return base64.b64decode('${PIXEL}')
Picture()`;
    const shown = await client.run('run_code', { session, code });
    expect(shown.structuredContent).toMatchObject({ outcome: 'succeeded' });
    expect(shown.content.find(({ type }) => type === 'image')?.data).toBe(PIXEL);
    const [{ data } = { data: {} }] = shown.structuredContent['results'] as { data: Record<string, { uri: string }> }[];
    expect((await client.read(data['image/png']?.uri ?? '')).contents[0]?.blob).toBe(PIXEL);
    await client.run('close_session', { session });
  });

  it('leaves nothing after a kill and the next sweep', async () => {
    const view = outsideView(tmpdir(), level === 'container' ? (await dockerImage()).engine : undefined);
    // The sandboxes of a fleet belong to its workers, which are in this process.
    const owner = ownerOf(BY_FLEET ? process.pid : pid) ?? 'no-owner';
    await client.run('open_session', {});
    const before = new Set(await view.leftovers(owner));
    client.run('run_code', { code: 'setInterval(() => {}, 1_000)' }).catch(() => undefined);
    await until(async () => (await view.leftovers(owner)).some((each) => !before.has(each)), 'the job');
    process.kill(pid, 'SIGKILL');
    await until(() => ownerOf(pid) === undefined, 'an end of the server');
    const { createOrchestrator } = await import('../../src/jobs/create-orchestrator.ts');
    await using orchestrator = createOrchestrator();
    await sweepUntil(orchestrator, async () => (await view.leftovers(owner)).length === 0);
    expect(await view.leftovers(owner)).toEqual([]);
  });
});

function requirePython(context: TestContext, level: EachLevel): void {
  if (level !== 'container') requireHere(context, MISSING_PYTHON);
}
