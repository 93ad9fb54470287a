import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { call, connect, program, serverFile, serverLog, type ServerLog } from '../../fixtures/mcp/mcp-scene.ts';
import { isAlive } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

/** Process ids of a stubborn server and of its child, which both ignore the end of their input and each signal that can be ignored. */
async function pidsOf(log: ServerLog): Promise<number[]> {
  await log.has('initialize');
  const pids = log.lines()[0]?.split(' ').map(Number) ?? [];
  expect(pids.map((pid) => isAlive(pid))).toEqual([true, true]);
  return pids;
}

async function allGone(pids: readonly number[]): Promise<void> {
  await until(() => pids.every((pid) => !isAlive(pid)), 'the end of the server and of its child');
}

async function startHost(action: string, log: ServerLog): Promise<ChildProcess> {
  const server = program('hostile-server', ['stubborn'], { LOG: log.path });
  const host = spawn(process.execPath, [serverFile('mcp-host'), action, JSON.stringify(server)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(() => void host.kill('SIGKILL'));
  await once(createInterface(host.stdout as NodeJS.ReadableStream), 'line');
  return host;
}

describe('a server that ignores all that can be ignored, and its child, are gone', () => {
  it('when the connection is closed', async () => {
    const log = stack.use(serverLog());
    const mcp = await connect(program('hostile-server', ['stubborn'], { LOG: log.path }));
    const pids = await pidsOf(log);
    await mcp.close();
    expect(pids.map((pid) => isAlive(pid))).toEqual([false, expect.any(Boolean)]);
    await allGone(pids);
  });

  it('when the connection is closed and only the child ignores that', async () => {
    const log = stack.use(serverLog());
    const mcp = await connect(program('hostile-server', ['stubborn', 'child'], { LOG: log.path }));
    const pids = await pidsOf(log);
    await mcp.close();
    await allGone(pids);
  });

  it('when the process that started them is killed', async () => {
    const log = stack.use(serverLog());
    const host = await startHost('stay', log);
    const pids = await pidsOf(log);
    host.kill('SIGKILL');
    await once(host, 'exit');
    await allGone(pids);
  });

  it.each(['exit', 'end'])('when the process that started them ends without closing: %s', async (action) => {
    const log = stack.use(serverLog());
    const host = await startHost(action, log);
    const [code] = host.exitCode === null ? ((await once(host, 'exit')) as [number]) : [host.exitCode];
    expect(code).toBe(0);
    await log.has('initialize');
    await allGone(log.lines()[0]?.split(' ').map(Number) ?? [process.pid]);
  });

  it('when connecting to it fails', async () => {
    const log = stack.use(serverLog());
    const servers = {
      s: program('hostile-server', ['stubborn'], { LOG: log.path }),
      other: { command: 'no-such-command' },
    };
    const { connectMcpTools } = await import('../../../src/mcp/client/connect-mcp-tools.ts');
    await expect(connectMcpTools(servers)).rejects.toMatchObject({ code: 'mcp.unavailable' });
    await allGone(log.lines()[0]?.split(' ').map(Number) ?? []);
  });
});

describe('a server', () => {
  it('lives until it is ended', async () => {
    const log = stack.use(serverLog());
    const mcp = stack.use(await connect(program('hostile-server', ['stubborn'], { LOG: log.path })));
    const pids = await pidsOf(log);
    expect(await call(mcp, 'good')).toEqual({ value: 'fine' });
    expect(pids.map((pid) => isAlive(pid))).toEqual([true, true]);
  });

  it('gets its own variables and those that programs need, and no key of this process', async () => {
    process.env['SKILLCELL_TEST_KEY'] = 'key-of-the-host';
    try {
      const mcp = stack.use(await connect(program('v2-server', ['stdio'], { TOKEN: 'own' })));
      const { value } = (await call(mcp, 'variables')) as { value: { names: string[] } };
      expect(value.names).toContain('TOKEN');
      expect(value.names).toContain('PATH');
      expect(value.names).not.toContain('SKILLCELL_TEST_KEY');
      const passed = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'TOKEN', 'USER'];
      expect(value.names.filter((name) => !passed.includes(name))).toEqual([]);
    } finally {
      delete process.env['SKILLCELL_TEST_KEY'];
    }
  });

  it('that keeps dying is started again after pauses that grow, and a call waits for it', async () => {
    const mcp = stack.use(await connect(program('v2-server', ['stdio'])));
    const pauses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      expect(await call(mcp, 'die')).toMatchObject({ code: 'mcp.unavailable' });
      const { performance } = globalThis;
      pauses.push(performance.now());
    }
    // The pauses after the first two ends are at least 250 and 500 ms, however slow the machine is.
    expect((pauses[1] ?? 0) - (pauses[0] ?? 0)).toBeGreaterThanOrEqual(250);
    expect((pauses[2] ?? 0) - (pauses[1] ?? 0)).toBeGreaterThanOrEqual(500);
  });
});

it('connectMcpTools() reports a url with a port that is never asked', async () => {
  await expect(connect({ url: 'http://127.0.0.1:9/mcp' })).rejects.toMatchObject({
    code: 'mcp.unavailable',
    message: expect.stringMatching(
      /^Cannot use the MCP server s: it has a port in its url that is never asked/,
    ) as unknown,
  });
});
