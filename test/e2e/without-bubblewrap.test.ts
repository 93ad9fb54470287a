import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, type TestContext } from 'vitest';
import { requireHere } from '../fixtures/describe-with.ts';
import { dockerImage, dockerTest } from '../fixtures/docker-image.ts';
import { HIDE_BUBBLEWRAP } from '../fixtures/hidden-bubblewrap.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** Runs one of the project's programs where bubblewrap is hidden. */
async function withoutBubblewrap(
  context: TestContext,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const [hide, ...words] = HIDE_BUBBLEWRAP ?? [];
  requireHere(context, hide === undefined ? 'uid 0, to hide bubblewrap' : undefined);
  const run = promisify(execFile)(hide ?? '', [...words, process.execPath, ...args], {
    cwd: project,
    env: { ...process.env, ...env },
  });
  run.child.stdin?.end('export default 1');
  return await run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

const EXEC = ['bin/skillcell.js', 'exec', '-', '--json'];
const NO_ENGINE = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };

describe('on a machine without bubblewrap', () => {
  dockerTest('the quick start is isolated by the engine', {}, async (context) => {
    await dockerImage();
    const { code, stdout, stderr } = await withoutBubblewrap(context, ['examples/quickstart/quickstart.ts'], {
      SKILLCELL_MODEL: '',
    });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/docker runner at\s+isolation\s+level\s+container/);
  });

  it('the advice is about the level that was asked for, and offers a weaker one to nobody who named one', async (context) => {
    const refused = async (...flags: string[]): Promise<{ code: string; hint: string }> => {
      const { code, stdout } = await withoutBubblewrap(context, [...EXEC, ...flags], NO_ENGINE);
      expect(code).toBe(3);
      return (JSON.parse(stdout) as { error: { code: string; hint: string } }).error;
    };
    const namespace = await refused('--isolation', 'namespace');
    expect(namespace.code).toBe('runner.isolation-unmet');
    expect(namespace.hint).toContain('apt-get install bubblewrap');
    expect(namespace.hint).not.toContain('--isolation none');
    const container = await refused('--isolation', 'container');
    expect(container.code).toBe('engine.unavailable');
    expect(container.hint).not.toMatch(/bubblewrap|isolation none/);
    const kernel = await refused('--isolation', 'kernel');
    expect(kernel.code).toBe('runner.isolation-unmet');
    expect(kernel.hint).toContain('SKILLCELL_KERNEL_RUNTIME');
    expect(kernel.hint).not.toMatch(/bubblewrap|isolation none/);
    const unnamed = await refused();
    expect(unnamed.code).toBe('runner.isolation-unmet');
    expect(unnamed.hint).toContain('apt-get install bubblewrap');
    expect(unnamed.hint).toContain('--isolation none');
  }, 60_000);

  it('doctor ends with 1, and with 0 where something isolates', async (context) => {
    const doctor = ['bin/skillcell.js', 'doctor', '--json'];
    const { code, stdout } = await withoutBubblewrap(context, doctor, NO_ENGINE);
    expect(JSON.parse(stdout)).toMatchObject({ ready: false, best: null });
    expect(code).toBe(1);
  }, 60_000);
});
