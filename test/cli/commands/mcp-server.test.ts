import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';
import { spawnCli, runCli } from '../../fixtures/spawn-cli.ts';
import { TOKEN } from '../../fixtures/mcp-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-mcp-server-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a file with a token. */
function tokenFile(text: string, mode = 0o600): string {
  const path = join(folder, 'token');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

async function mcp(...argv: string[]): Promise<MainRun> {
  return await runMain(['mcp', ...argv], { cwd: folder });
}

describe('skillcell mcp', () => {
  it.each<[string, string[], number, string]>([
    ['a port without a token', ['--http', '0'], 2, 'clients need a token: add --token-file FILE'],
    ['an invalid port', ['--http', '70000', '--token-file', 'x'], 2, 'a whole number of the port from 0 to 65535'],
    ['a token without a port', ['--token-file', 'x'], 2, 'it works only with --http PORT'],
    ['a missing token file', ['--http', '0', '--token-file', 'none'], 2, 'there is no such file'],
    ['an unknown flag', ['--output', 'out'], 2, 'there is no flag --output'],
    ['an operand', ['serve'], 2, 'it takes no operands'],
    ['an unknown runner', ['--runner', 'podman'], 2, '--runner must be one of auto, local, docker'],
    ['a budget of 0', ['--timeout', '0'], 2, 'it must be a number of seconds'],
    ['an invalid pool', ['--pool', 'x'], 2, 'a whole number of sandboxes from 0 to 100'],
    ['a missing descriptor', ['--descriptor', 'none.json'], 2, 'there is no such file'],
  ])('refuses %s', async (_what, argv, code, message) => {
    const run = await mcp(...argv);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  it.each([0o640, 0o604, 0o660, 0o622, 0o666])('refuses a token in a file that others reach: mode %o', async (mode) => {
    const run = await mcp('--http', '0', '--token-file', tokenFile(TOKEN, mode));
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(`others may read it or write to it (mode ${mode.toString(8)})`);
    expect(run.stderr).not.toContain(TOKEN);
  });

  it.each([
    '',
    'short',
    'with a blank in its middle',
    'line\nline-0123456789abcdef',
    'ümlaut-0123456789abcdef',
    'x'.repeat(600),
  ])('refuses a token that a header cannot hold, or that can be guessed: %j', async (text) => {
    const run = await mcp('--http', '0', '--token-file', tokenFile(text));
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('--token-file');
    if (text !== '') expect(run.stderr).not.toContain(text);
  });

  it('refuses a token that is not in a regular file', async () => {
    mkdirSync(join(folder, 'directory'));
    symlinkSync('/dev/zero', join(folder, 'device'));
    for (const name of ['directory', 'device']) {
      expect(await mcp('--http', '0', '--token-file', name)).toMatchObject({ code: 2, stdout: '' });
    }
  });

  it('reports a port that is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const run = await runCli(['mcp', '--http', String(port), '--token-file', tokenFile(TOKEN), ...BEST_FLAGS]);
    taken.close();
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toContain(`Cannot listen on 127.0.0.1`);
  });

  it('ends silently with exit code 0 when its client closes the streams', async () => {
    expect(await runCli(['mcp', ...BEST_FLAGS])).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  });

  it('ends when the reader of its answers is gone', async () => {
    const child = spawnCli(['mcp', ...BEST_FLAGS]);
    child.stdout?.destroy();
    child.stdin?.write('no message\n'.repeat(1_000));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(141);
  });
});
