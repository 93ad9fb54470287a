import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingForBubblewrap, missingForPython, PYTHON, SandboxFolder, type SandboxRun } from './bubblewrap-run.ts';
import { describeWith } from '../../fixtures/describe-with.ts';

function addScript(folder: SandboxFolder, name: string): string {
  return folder.add(name, fileURLToPath(new URL(name, import.meta.url)));
}

/** Runs a program with and without the filter; both runs must succeed with the same output. */
function runTwice(folder: SandboxFolder, program: readonly string[]): SandboxRun {
  const [filtered, free] = [true, false].map((filter) => folder.run('user', filter, program));
  expect(filtered).toMatchObject({ status: 0, stderr: free?.stderr });
  expect(filtered?.stdout).toBe(free?.stdout);
  if (filtered === undefined) throw new Error('nothing ran');
  return filtered;
}

describeWith('under the filter', missingForBubblewrap(), () => {
  let folder: SandboxFolder;
  beforeAll(() => {
    folder = new SandboxFolder();
  });
  afterAll(() => folder[Symbol.dispose]());

  test('A20 a program runs in seccomp mode 2, and without the filter in mode 0', () => {
    const program = ['grep', '^Seccomp:', '/proc/self/status'];
    expect(folder.run('user', true, program).stdout).toBe('Seccomp:\t2\n');
    expect(folder.run('user', false, program).stdout).toBe('Seccomp:\t0\n');
  });

  test('Node does its ordinary work: children, workers, timers, files, crypto, zlib, sockets, network interfaces', () => {
    const program = [folder.add('node', process.execPath), addScript(folder, 'ordinary-work.mjs')];
    const { stdout, stderr } = runTwice(folder, program);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      spawn: [3, 'in', 'zero\n'],
      nestedNode: '42\n',
      fork: ['there back', 0, null],
      kill: [null, 'SIGTERM'],
      worker: ['done'],
      files: ['text more', 2000, true],
      streams: 'text more',
      interfaces: ['lo'],
      unixSocket: 'local',
      http: '/path',
      signal: 'SIGUSR2',
    });
  });

  test('bash does its ordinary work: pipes, job control, substitutions, core utilities', () => {
    const { stdout, stderr } = runTwice(folder, ['bash', addScript(folder, 'ordinary-work.sh')]);
    expect(stderr).toBe('');
    const lines = stdout.split('\n');
    expect(lines.slice(0, 7)).toEqual([
      'A,B,C',
      'here string',
      'process substitution',
      'same',
      'through the fifo',
      'kept',
      'job ended with 143',
    ]);
    expect(lines.slice(-3)).toEqual(['grown', 'finished', '']);
  });
});

describeWith('under the filter, with Python', missingForPython(), () => {
  test('Python does its ordinary work: children, threads, multiprocessing, asyncio, files, terminals, sockets', () => {
    using folder = new SandboxFolder();
    const { stdout, stderr } = runTwice(folder, [PYTHON, '-I', addScript(folder, 'ordinary-work.py')]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      subprocess: [3, 'in'],
      threads: 8,
      'process fork': [true, null, 0],
      'process spawn': [true, null, 0],
      'process forkserver': [true, null, 0],
      pool: [0, 2, 4, 6],
      asyncio: ['echoed', 0, 'line\n', 8],
      sqlite: 45,
      interfaces: ['lo'],
      'terminal child': ['in a terminal\r\n', 0],
      signal: [1],
      memfd: 4,
    });
  });
});
