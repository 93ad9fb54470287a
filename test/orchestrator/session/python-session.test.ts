import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../../src/contracts/session.ts';
import { createOrchestrator } from '../../../src/orchestrator/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel, type EachLevel } from '../../fixtures/every-level.ts';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
});
afterAll(() => orchestrator.close());

/** The code of a class whose method does this. */
const made = (method: string, does: string): string =>
  `class Made(Exception):\n  def ${method}(self, *_):\n    ${does}\n`;

describe.each(EVERY_LEVEL)('Python in a session at level %s', (level) => {
  const open = (): Promise<Session> =>
    orchestrator.session({ language: 'python', isolation: level, runner: level === 'container' ? 'docker' : 'local' });

  it('outlives errors that fail to say what they are', async (context) => {
    need(context, level);
    await using session = await open();
    for (const raise of ['raise ValueError', 'raise SystemExit', 'raise KeyboardInterrupt', 'return 1']) {
      const run = await session.run(`${made('__str__', raise)}raise Made()`);
      expect(run).toMatchObject({ outcome: 'failed', state: 'kept', error: { name: 'Made' } });
    }
    expect(await session.run('2')).toMatchObject({ value: 2, epoch: 1 });
  });

  it('outlives values that fail to be shown', async (context) => {
    need(context, level);
    await using session = await open();
    for (const [raise, name] of [
      ['ValueError', 'ValueError'],
      ['SystemExit', 'SystemExit'],
      ['KeyboardInterrupt', 'Interrupted'],
    ]) {
      const run = await session.run(`${made('__repr__', `raise ${raise}`)}Made()`);
      expect(run).toMatchObject({ outcome: 'failed', state: 'kept', error: { name } });
    }
    expect(await session.run('2')).toMatchObject({ value: 2, epoch: 1 });
  });

  it('stops a value that takes for ever to be shown', async (context) => {
    need(context, level);
    await using session = await open();
    for (const code of [
      `${made('__repr__', 'while True: pass')}Made()`,
      `${made('__str__', 'while True: pass')}raise Made()`,
    ]) {
      const run = await session.run(code, { timeoutMs: 500 });
      expect(run).toMatchObject({ outcome: 'timeout', state: 'kept' });
    }
  });

  it('outlives streams that are closed, or are none', async (context) => {
    need(context, level);
    await using session = await open();
    for (const take of ['sys.stderr = object()', 'sys.stdout = object()', 'del sys.stderr', 'sys.__stderr__.close()']) {
      await session.run(`import sys\n${take}`);
      const run = await session.run('1 / 0');
      expect(run).toMatchObject({ outcome: 'failed', state: 'kept', error: { name: 'ZeroDivisionError', line: 1 } });
      expect(run.stderr.text).toContain('division by zero');
    }
    expect(await session.run('sys.exit(3)')).toMatchObject({ state: 'lost', outcome: 'failed', exitCode: 3 });
  });

  it('has one process: one that the code forks ends with the code', async (context) => {
    need(context, level);
    await using session = await open();
    const forked = await session.run(
      'import os\nchild = os.fork()\nopen(1, "w", closefd=False).write("child\\n" if child == 0 else "parent\\n")\nNone',
    );
    expect(forked).toMatchObject({ outcome: 'succeeded', state: 'kept' });
    const code = 'os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])';
    const ended = await session.run(code);
    expect(ended.value).toBe(0);
    expect(`${forked.stdout.text}${ended.stdout.text}`.split('\n').toSorted()).toEqual(['', 'child', 'parent']);
    await session.run('child = os.fork()\nif child == 0: 1 / 0');
    expect((await session.run(code)).value).toBe(1);
    await session.run('child = os.fork()\nif child == 0: raise SystemExit(7)');
    expect((await session.run(code)).value).toBe(7);
    const own = (await session.run('pid = os.getpid()')).run;
    for (let i = 0; i < 5; i += 1) expect((await session.run('pid == os.getpid()')).value).toBe(true);
    expect((await session.run('1')).run).toBe(own + 6);
  });

  it('gives a value where JSON says all of it, and shows it otherwise', async (context) => {
    need(context, level);
    await using session = await open();
    for (const [code, value] of [
      ['(1, 2)', [1, 2]],
      ['{"a": [{"b": (None, True, 1.5)}]}', { a: [{ b: [null, true, 1.5] }] }],
    ] as const)
      expect(await session.run(code)).toMatchObject({ value, results: [] });
    for (const code of ['{1: 2}', '[{None: 1}]', "{'a': ({True: []},)}"]) {
      const run = await session.run(code);
      expect(run).not.toHaveProperty('value');
      expect(run.results.map(({ data }) => data)).toEqual([{ 'text/plain': code }]);
    }
  });
});

function need(context: Parameters<typeof requireEachLevel>[0], level: EachLevel): void {
  requireEachLevel(context, level);
  requireHere(context, MISSING_PYTHON);
}
