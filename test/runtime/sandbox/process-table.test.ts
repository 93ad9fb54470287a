import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import {
  handlesSignal,
  hasEnvironmentEntry,
  isAlive,
  isExiting,
  listProcesses,
  type ProcessRow,
} from '../../../runtime/sandbox/process-table.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { until } from '../../fixtures/until.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(file: string, args: readonly string[]): ChildProcess & { pid: number } {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { MARK: 'mine' } });
  children.push(child);
  if (child.pid === undefined) throw new Error(`Cannot start ${file}.`);
  return child as ChildProcess & { pid: number };
}

function rowOf(pid: number): ProcessRow | undefined {
  return listProcesses().find((row) => row.pid === pid);
}

/** Blocks the event loop while waiting, so that Node does not reap the dead child. */
function blockUntilDead(pid: number): ProcessRow {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; round < 2_000; round += 1) {
    const row = rowOf(pid);
    if (row === undefined) throw new Error('The child was reaped.');
    if (row.state === 'Z' && row.threads <= 1) return row;
    Atomics.wait(clock, 0, 0, 5);
  }
  throw new Error('The child did not die within ten seconds.');
}

it('a live process of one thread is alive and not exiting', () => {
  const { pid } = start('/bin/sleep', ['60']);
  const row = rowOf(pid);
  expect(row).toMatchObject({ pid, parent: process.pid, threads: 1, exiting: false });
  expect(row && [isAlive(row), isExiting(row)]).toEqual([true, false]);
});

it('this process, which has several threads, is alive and never exiting', () => {
  for (let round = 0; round < 20; round += 1) {
    const row = rowOf(process.pid);
    expect(row?.threads).toBeGreaterThan(1);
    expect(row && [isAlive(row), isExiting(row)]).toEqual([true, false]);
  }
});

it.each([
  ['one thread', '/bin/sleep', ['60']],
  ['several threads', process.execPath, ['-e', 'setInterval(() => undefined, 1_000)']],
])('a killed, unreaped process of %s is exiting and not alive', (_name, file, args) => {
  const child = start(file, args);
  child.kill('SIGKILL');
  const row = blockUntilDead(child.pid);
  expect([isAlive(row), isExiting(row)]).toEqual([false, true]);
});

/** Ends only its first thread; another thread lives on. 60 is exit of x86_64, 93 of arm64. */
const FIRST_THREAD_ENDS = `
import ctypes, os, threading, time
threading.Thread(target=lambda: (time.sleep(0.1), os.write(1, b'.'), time.sleep(60))).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)`;

it('a process of which only the first thread has ended is alive, not exiting, and keeps its mark', async (context) => {
  requireHere(context, MISSING_PYTHON);
  const child = start('/usr/bin/python3', ['-c', FIRST_THREAD_ENDS]);
  if (child.stdout === null) throw new Error('The child has no output.');
  await once(child.stdout, 'data');
  await until(() => rowOf(child.pid)?.exiting === true, 'the end of its first thread');
  const row = rowOf(child.pid);
  expect(row && [isAlive(row), isExiting(row)]).toEqual([true, false]);
  expect(row && hasEnvironmentEntry(row, 'MARK=mine')).toBe(true);
  expect(row && hasEnvironmentEntry(row, 'MARK=mi')).toBe(false);
});

it('handlesSignal() finds the handlers of a process, including the highest signal', async (context) => {
  requireHere(context, MISSING_PYTHON);
  const code = 'import signal; [signal.signal(n, print) for n in (10, 64)]; print(flush=True); signal.pause()';
  const child = start('/usr/bin/python3', ['-c', code]);
  if (child.stdout === null) throw new Error('The child has no output.');
  await once(child.stdout, 'data');
  expect([9, 10, 12, 63, 64].filter((number) => handlesSignal(child.pid, number))).toEqual([10, 64]);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(handlesSignal(child.pid, 64)).toBe(false);
});
