import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import {
  controlGroupLayout,
  createControlGroup,
  destroyControlGroup,
  listControlGroups,
  type ControlGroup,
} from '../../../src/sandboxes/local/control-group.ts';
import { requireHere } from '../../fixtures/describe-with.ts';
import { until } from '../../fixtures/until.ts';

const MIB = 1024 * 1024;
const NO_GROUPS = controlGroupLayout() === null ? 'control groups that this user may create' : undefined;
const LIMITS = { ...DEFAULT_LIMITS, memoryMib: 40, workspaceMib: 1, pids: 40, cpus: 0.5 };

describe('a control group', () => {
  let group: ControlGroup | null;
  let name: string;
  let children: ChildProcess[];

  beforeEach((context) => {
    requireHere(context, NO_GROUPS);
    name = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
    group = createControlGroup(name, LIMITS);
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await until(() => destroyControlGroup(name), 'the removal of the group');
  });

  /** A shell that enters the group and becomes a command. */
  function enter(command: string): ChildProcess {
    const entrances = group?.entrances.join(' ') ?? '';
    const child = spawn('/bin/sh', ['-c', `for e in ${entrances}; do echo $$ >"$e" || exit 71; done; ${command}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  }

  /** The value of a file of the group, by its names in version 2 and in version 1. */
  function setting(unified: string, separate: string): string {
    const folders = group?.entrances.map((path) => dirname(path)) ?? [];
    const files = folders.flatMap((folder) => [join(folder, unified), join(folder, separate)]);
    return readFileSync(files.find((path) => existsSync(path)) ?? 'none', 'latin1').trim();
  }

  it('has the limits of job, workspace and supervisor together', () => {
    expect(Number(setting('memory.max', 'memory.limit_in_bytes'))).toBe((40 + 2 * 1 + 72 + 64) * MIB);
    expect(setting('pids.max', 'pids.max')).toBe('64');
    expect(setting('cpu.max', 'cpu.cfs_quota_us')).toMatch(/^50000/);
    expect(listControlGroups()).toContain(name);
  });

  it('is removed if one of its limits cannot be set', () => {
    const half = `${name}-half`;
    expect(() => createControlGroup(half, { ...LIMITS, cpus: Number.NaN })).toThrow(/EINVAL/);
    expect(listControlGroups()).not.toContain(half);
  });

  it('counts time, memory and kills of its processes, and is busy while they run', async () => {
    const child = enter(
      `exec '${process.execPath}' -e 'globalThis.x = Buffer.alloc(30 << 20, 1); console.log(1); setInterval(() => {}, 1000)'`,
    );
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    const usage = group?.usage();
    expect(usage?.cpuMs).toBeGreaterThan(0);
    expect(usage?.maxRssBytes).toBeGreaterThan(30 * MIB);
    expect(usage).toMatchObject({ oomKills: 0, pidsRefused: 0 });
    expect(group?.remove()).toBe(false);
    child.kill('SIGKILL');
    await until(() => group?.remove() === true, 'the removal of the empty group');
    expect(group?.remove()).toBe(true);
    expect(listControlGroups()).not.toContain(name);
  });

  it('B03 makes the kernel kill a process that exceeds the memory limit, and counts it', async () => {
    const child = enter(`exec '${process.execPath}' -e 'Buffer.alloc(200 << 20, 1)'`);
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    expect(group?.usage().oomKills).toBeGreaterThan(0);
  });

  it('B01 makes the kernel refuse forks over the limit, and counts them', async () => {
    const child = enter('for i in $(seq 80); do sleep 30 & done; wait');
    await until(() => (group?.usage().pidsRefused ?? 0) > 0, 'a refused fork');
    expect(
      readFileSync(group?.entrances.find((path) => path.includes('pids')) ?? group?.entrances[0] ?? '', 'latin1')
        .trim()
        .split('\n').length,
    ).toBeLessThanOrEqual(64);
    child.kill('SIGKILL');
  });

  it('is destroyed with all its processes', async () => {
    const child = enter('sleep 60 & sleep 60 & echo up; wait');
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    await until(() => destroyControlGroup(name), 'the end of the group');
    await until(() => child.exitCode !== null || child.signalCode !== null, 'the end of the process');
    expect(listControlGroups()).not.toContain(name);
    expect(destroyControlGroup(name)).toBe(true);
  });
});

it('are not created where no tree of groups is mounted, as after `ip netns exec`', async (context) => {
  requireHere(context, NO_GROUPS);
  const { href } = new URL('../../../src/sandboxes/local/control-group.ts', import.meta.url);
  const program = `import('${href}').then(({ controlGroupLayout }) => console.log(controlGroupLayout()))`;
  const unmounted = 'umount --recursive /sys/fs/cgroup && exec "$0" --eval "$1"';
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--mount', 'sh', '-c', unmounted, process.execPath, program],
    { timeout: 60_000, killSignal: 'SIGKILL' },
  );
  expect(stdout).toBe('null\n');
});
