import { execa } from 'execa';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = `${root}test/fixtures/closing-line`;

describe('ClosingLineReporter', () => {
  it('ends with the counts, after a line for each reason of a skip', async () => {
    const { exitCode, lines } = await run('mixed.ts');
    expect(exitCode).toBe(1);
    expect(lines.slice(-3)).toEqual([
      'skipped 2: no engine on this machine',
      'skipped 1: no network',
      '2 passed, 1 failed, 3 skipped',
    ]);
  });

  it('counts a file that cannot be loaded as a failure', async () => {
    const { exitCode, lines } = await run('unloadable.ts');
    expect(exitCode).toBe(1);
    expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
  });

  it('counts a warning of the process as a failure', async () => {
    const { exitCode, lines, stderr } = await run('warns.ts');
    expect(exitCode).toBe(1);
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
    expect(stderr).toContain('The process warned during this file: Warning: something leaks');
  });

  it('refuses a skip without a reason in CI only', async () => {
    const outside = await run('unexplained.ts');
    expect([outside.exitCode, outside.lines.at(-1)]).toEqual([0, '0 passed, 0 failed, 1 skipped']);
    expect(outside.lines.slice(-3, -1)).toEqual([
      expect.stringMatching(/^skipped: unexplained\.ts > /),
      'skipped 1: no reason given',
    ]);
    const inside = await run('unexplained.ts', { CI: 'true' });
    expect([inside.exitCode, inside.lines.at(-1)]).toEqual([1, '0 passed, 0 failed, 1 skipped']);
  });
});

interface Run {
  exitCode: number | undefined;
  lines: string[];
  stderr: string;
}

async function run(file: string, env: Record<string, string> = {}): Promise<Run> {
  const { CI: _, VITEST: __, ...inherited } = process.env;
  const vitest = `${root}node_modules/vitest/vitest.mjs`;
  const { exitCode, stdout, stderr } = await execa(process.execPath, [vitest, 'run', '--root', fixtures, file], {
    env: { ...inherited, ...env },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  return { exitCode, lines: stdout.split('\n'), stderr };
}
