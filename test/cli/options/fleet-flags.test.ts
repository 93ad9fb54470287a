import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireHere } from '../../fixtures/describe-with.ts';
import { writeFleetFile } from '../../fixtures/fleet/worker-command.ts';
import { runMain } from '../../fixtures/run-main.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-fleet-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('flags of a fleet', () => {
  const number = (unit: string): RegExp => new RegExp(`it must be a (?:whole )?number of ${unit}`);
  const bad = ['0', '-1', 'NaN', '1e9', '', ' 1', '1.5', '99999999999'];
  it.each([
    ...bad.map((value) => ['slots', value, number('sandboxes')] as const),
    ...bad.filter((value) => value !== '0').map((value) => ['pool', value, number('sandboxes')] as const),
    ...bad.map((value) => ['max-memory', value, number('MiB')] as const),
    ...bad.filter((value) => value !== '1.5').map((value) => ['max-cpus', value, number('processors')] as const),
    ...bad.filter((value) => value !== '0').map((value) => ['drain', value, number('seconds')] as const),
    ...['', 'A', 'a_b', 'a.b', 'a'.repeat(33), 'ä', 'a b', '*'].flatMap((value) => [
      ['name', value, /it must be 1 to 32 of a-z, 0-9 and -/] as const,
      ['queue', value, /it must be 1 to 32 of a-z, 0-9 and -/] as const,
    ]),
    ['isolation', 'none', /must be one of namespace, container, kernel/],
    ['runner', 'fleet', /must be one of auto, local, docker/],
  ] as const)('worker --%s=%j ends with 2', async (flag, value, message) => {
    const { code, stderr } = await runMain(['worker', `--${flag}=${value}`], {
      env: { SKILLCELL_FLEET: 'redis://127.0.0.1:1' },
    });
    expect(code).toBe(2);
    expect(stderr).toContain(`--${flag}`);
    expect(stderr).toMatch(message);
  });

  it.each([
    ['exec', ['exec', '-', '--language', 'bash']],
    ['codegen', ['codegen', 'x']],
    ['repl', ['repl']],
    ['mcp', ['mcp']],
    ['serve', ['serve']],
    ['skills run', ['skills', 'run', 'a', 'b']],
    ['skills eval', ['skills', 'eval', 'a']],
  ])('%s --runner fleet without an address ends with 2', async (_name, argv) => {
    const { code, stderr } = await runMain([...argv, '--runner', 'fleet']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Cannot use --runner: a fleet needs its address: add --fleet-file'),
    ]);
  });

  it.each([
    [['worker'], '--fleet-file'],
    [['exec', '-', '--queue', 'a'], '--queue: it works only with --fleet-file'],
    [['exec', '-', '--plain'], '--plain: it works only with --fleet-file'],
    [
      ['exec', '-', '--runner', 'local', '--fleet-file', 'x'],
      '--fleet-file: it works only where --runner is fleet or auto',
    ],
    [
      ['exec', '-', '--server', 'http://127.0.0.1:1', '--fleet-file', 'x'],
      '--fleet-file: the service of --server decides',
    ],
    [['exec', '-', '--fleet-file', 'gone'], '--fleet-file: there is no such file'],
    [['exec', '-', '--fleet-file', ''], '--fleet-file'],
  ])('%j ends with 2', async (argv, message) => {
    const { code, stderr } = await runMain(argv, { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    ['redis://10.1.2.3:6379', 'it must be rediss:// for a host beyond the loopback, got "redis://10.1.2.3:6379"'],
    ['redis://fleet.example', 'rediss:// for a host beyond the loopback'],
    ['http://127.0.0.1', 'it must be an address of the form rediss://USER:PASSWORD@HOST:6379'],
    ['words', 'it must be an address of the form rediss://'],
    ['', 'it must be an address of the form rediss://'],
    ['redis://127.0.0.1/secret', 'it must name a database by its number'],
    ['redis://127.0.0.1\nredis://127.0.0.2', 'it must be one line with one address'],
  ])('the address %j is refused, and never shown with a password', async (url, message) => {
    const secret = url.replace('://', '://someone:sesame@');
    const file = writeFleetFile(folder, secret);
    const cases: [string[], Record<string, string>, string][] = [
      [['--fleet-file', file], {}, '--fleet-file'],
      ...(url === ''
        ? []
        : [[[], { SKILLCELL_FLEET: secret }, 'SKILLCELL_FLEET'] as [string[], Record<string, string>, string]]),
    ];
    for (const [flags, env, about] of cases) {
      for (const argv of [['worker'], ['exec', '-', '--runner', 'fleet']]) {
        const { code, stderr } = await runMain([...argv, ...flags], { env });
        expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
        expect(stderr).toContain(about);
        expect(stderr).not.toContain('sesame');
      }
    }
  });

  it('a host beyond the loopback without TLS is tried with --plain', async () => {
    // An address of documentation, which no machine has.
    const file = writeFleetFile(folder, 'redis://192.0.2.1:1');
    const { code, stderr } = await runMain(['exec', '-', '--runner', 'fleet', '--plain', '--fleet-file', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the code must not be empty')]);
  });

  it.each([0o640, 0o604, 0o660, 0o610, 0o601])('a file of mode %o is refused', async (mode) => {
    const file = writeFleetFile(folder, 'redis://127.0.0.1:1');
    chmodSync(file, mode);
    const { code, stderr } = await runMain(['worker', '--fleet-file', file]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--fleet-file.*chmod 600.*fleet"/)]);
  });

  it('a file of another user is refused', async (context) => {
    requireHere(context, process.getuid?.() === 0 ? undefined : 'only root can give a file away');
    const file = writeFleetFile(folder, 'redis://127.0.0.1:1');
    chownSync(file, 65_534, 65_534);
    const { code, stderr } = await runMain(['worker', '--fleet-file', file]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/another user owns it.*chmod 600.*fleet"/)]);
  });
});
