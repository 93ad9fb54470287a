import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listProcesses } from '../../../runtime/sandbox/process-table.ts';
import type { Privileges } from '../../../runtime/sandbox/privileges.ts';
import type { SandboxLayout } from '../../../runtime/sandbox/sandbox-layout.ts';
import { userProcesses, type UserProcesses } from '../../../runtime/sandbox/user-processes.ts';
import { until } from '../../fixtures/until.ts';

/** Unique for each test: processes of the previous test may still be ending, and another run may look for its own. */
let [mine, others, nobodys] = ['', '', ''];

const children: ChildProcess[] = [];
beforeEach(() => {
  [mine, others, nobodys] = [randomUUID(), randomUUID(), randomUUID()];
});
afterEach(() => {
  for (const child of children.splice(0)) if (child.pid !== undefined) killGroup(child.pid);
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function start(code: string, env: Record<string, string> = {}): number {
  const child = spawn('/bin/sh', ['-c', code], { stdio: 'ignore', env, detached: true });
  children.push(child);
  if (child.pid === undefined) throw new Error('Cannot start a shell.');
  return child.pid;
}

const childrenOf = (pid: number): number[] =>
  listProcesses()
    .filter((row) => row.parent === pid)
    .map((row) => row.pid);

function atLevelNone(marker: string, executor?: number): UserProcesses {
  return userProcesses({ level: 'none', marker } as SandboxLayout, {} as Privileges, () => executor);
}

const pids = (found: UserProcesses): number[] =>
  found
    .list()
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);

it('user processes at level none are the executor, the processes with the marker, their descendants, and no other', async () => {
  const other = start('exec sleep 60', { SKILLCELL_JOB_MARK: others });
  const marked = start('env -i sh -c "sleep 60 & wait" & wait', { SKILLCELL_JOB_MARK: mine });
  const executor = start('sleep 60 & wait');
  // The shell between them has no marker, and its parent has none either.
  const below = (): number[] => [executor, marked].flatMap(childrenOf);
  const farBelow = (): number[] => below().flatMap(childrenOf);
  await until(() => below().length === 2 && farBelow().length === 1, 'all processes');
  const all = [executor, marked, ...below(), ...farBelow()].toSorted((a, b) => a - b);
  const found = atLevelNone(mine, executor);
  expect(pids(found)).toEqual(all);
  expect(pids(found)).not.toContain(other);
  expect(pids(atLevelNone(mine))).not.toContain(executor);
  expect(pids(atLevelNone(nobodys))).toEqual([]);
});

it('user processes at level none do not include an unreaped dead process', async () => {
  const parent = start('true & exec sleep 60', { SKILLCELL_JOB_MARK: mine });
  const isDead = (): boolean => listProcesses().some((row) => row.parent === parent && row.state === 'Z');
  await until(isDead, 'a dead child');
  expect(pids(atLevelNone(mine, parent))).toEqual([parent]);
});

it('user processes at level none are all asked to end and then killed, and no others are', async () => {
  const other = start('exec sleep 60', { SKILLCELL_JOB_MARK: others });
  const stubborn = start('trap "" TERM; while :; do sleep 1; done', { SKILLCELL_JOB_MARK: mine });
  const obedient = start('exec sleep 60', { SKILLCELL_JOB_MARK: mine });
  const found = atLevelNone(mine);
  await until(() => childrenOf(stubborn).length === 1, 'the child of the stubborn process');
  // Never more than these: a wrong list would end the machine's processes.
  expect(pids(found).filter((pid) => ![stubborn, obedient, ...childrenOf(stubborn)].includes(pid))).toEqual([]);
  // A process during its exec has no environment, and is not asked.
  await until(() => {
    found.terminate();
    return !pids(found).includes(obedient);
  }, 'the end of the obedient process');
  expect(pids(found)).toContain(stubborn);
  expect(await found.killAll(10_000)).toBe(true);
  expect(await found.gone(10_000)).toBe(true);
  expect(pids(atLevelNone(others))).toEqual([other]);
});
