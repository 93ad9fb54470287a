import { execa } from 'execa';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('setUp()', () => {
  let checkout: string;

  beforeAll(() => {
    // The blank in the path is part of the test.
    checkout = join(mkdtempSync(join(tmpdir(), 'skillcell-fresh-')), 'a checkout');
    mkdirSync(checkout);
    for (const name of ['package.json', 'package-lock.json', '.npmrc', 'scripts/setup']) {
      cpSync(join(root, name), join(checkout, name), { recursive: true });
    }
  });

  afterAll(() => rmSync(dirname(checkout), { recursive: true }));

  const isInstalled = (name: string): boolean => existsSync(join(checkout, 'node_modules', name, 'package.json'));
  const start = (whole = false) => {
    const code = `const { setUp } = await import('./scripts/setup/set-up.js'); console.log(await setUp(process.cwd(), ${whole}));`;
    return execa(process.execPath, ['--input-type=module', '-e', code], {
      cwd: checkout,
      reject: false,
      stdin: 'ignore',
    });
  };

  it('repairs an interrupted set-up, once for two concurrent runs, and then takes milliseconds', async (context) => {
    const staging = join(checkout, '.toolchain/staging');
    const interrupted = start();
    await expect
      .poll(() => existsSync(staging) && readdirSync(staging).length, { timeout: 10_000, interval: 5 })
      .toBe(1);
    interrupted.kill('SIGKILL');
    await interrupted;
    expect(existsSync(join(checkout, 'node_modules'))).toBe(false);

    const both = await Promise.all([start(), start()]);
    const log = both.map(({ stderr }) => stderr).join('\n');
    context.skip(log.includes('registry does not answer') && !process.env['CI'], 'the npm registry does not answer');
    expect(
      both.map(({ exitCode }) => exitCode),
      log,
    ).toEqual([0, 0]);
    expect(both.map(({ stdout }) => stdout)).toEqual([process.execPath, process.execPath]);
    expect(log.match(/: packages into node_modules/g)).toHaveLength(1);
    expect(log).toContain('another set-up is at work');
    expect([isInstalled('zod'), isInstalled('esbuild'), isInstalled('typescript')]).toEqual([true, true, false]);
    expect(existsSync(staging) && readdirSync(staging).length > 0).toBe(false);
    const again = await start();
    expect([again.exitCode, again.stderr]).toEqual([0, '']);

    const whole = await start(true);
    expect([whole.exitCode, whole.stderr]).toEqual([0, expect.stringContaining('all packages into node_modules')]);
    expect([isInstalled('zod'), isInstalled('esbuild'), isInstalled('typescript')]).toEqual([true, true, true]);
    expect((await start()).stderr).toBe('');
  }, 300_000);
});
