import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const fixtures = fileURLToPath(new URL('../../fixtures/launcher/', import.meta.url));

describe('watchLauncher()', () => {
  it('ignores a variable that comes from elsewhere', async () => {
    const code = `
      const { watchLauncher } = await import(${JSON.stringify(new URL('../../../src/cli/terminal/launcher-watch.ts', import.meta.url))});
      watchLauncher();
      process.exitCode = process.env.SKILLCELL_LAUNCHER_FD === undefined ? 0 : 1;`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: { SKILLCELL_LAUNCHER_FD: '3' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('startNode()', () => {
  let folder: string;
  let launcher: ChildProcess | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skillcell-launcher-'));
  });

  afterEach(() => {
    launcher?.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  async function launchWatched(): Promise<{ child: number; seen: () => string }> {
    launcher = spawn(process.execPath, [`${fixtures}launch.js`, `${fixtures}watched.ts`, join(folder, 'signal')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(launcher.stdout!, 'data')) as [Buffer];
    return { child: Number(line.toString()), seen: () => readFileSync(join(folder, 'signal'), 'utf8') };
  }

  async function evaluate(code: string): Promise<[number | null, NodeJS.Signals | null]> {
    launcher = spawn(process.execPath, [`${fixtures}launch.js`, '-e', code], { stdio: 'ignore' });
    return (await once(launcher, 'exit')) as [number | null, NodeJS.Signals | null];
  }

  it('ends with the exit code of the child', async () => {
    expect(await evaluate('process.exit(7)')).toEqual([7, null]);
  });

  it('ends by the signal that ended the child', async () => {
    expect(await evaluate('process.kill(process.pid, "SIGKILL")')).toEqual([null, 'SIGKILL']);
    expect(await evaluate('process.kill(process.pid, "SIGTERM")')).toEqual([null, 'SIGTERM']);
  });

  it('passes a signal on and waits for the end of the child', async () => {
    const { seen } = await launchWatched();
    launcher!.kill('SIGINT');
    expect(await once(launcher!, 'exit')).toEqual([130, null]);
    expect(seen()).toBe('SIGINT');
  });

  it('ends the child when it is killed', async () => {
    const { child, seen } = await launchWatched();
    launcher!.kill('SIGKILL');
    await expect.poll(() => isAlive(child), { timeout: 10_000 }).toBe(false);
    expect(seen()).toBe('SIGTERM');
  });

  it('leaves no descriptor of the pipe to the processes of the child', async () => {
    const code = `
      const list = require('node:child_process').execFileSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' });
      process.exit(list.split('\\n').some((line) => / ([3-9]|[1-9]\\d+) -> socket:/.test(line)) ? 1 : 0)`;
    expect(await evaluate(code)).toEqual([0, null]);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}
