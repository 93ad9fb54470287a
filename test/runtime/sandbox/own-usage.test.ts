import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownUsage } from '../../../runtime/sandbox/own-usage.ts';
import { readControlGroupMemory } from '../../../src/protocol/control-group-usage.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillcell-cgroup-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes files in the kernel's format. */
function show(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

const VERSION_2 = {
  'cgroup.controllers': 'cpuset cpu io memory pids\n',
  'memory.current': '50331648\n',
  'memory.peak': '73400320\n',
  'memory.stat': 'anon 20971520\nfile 16777216\ninactive_anon 4096\ninactive_file 8388608\nactive_file 1\n',
  'memory.events': 'low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n',
  'pids.events': 'max 41\n',
  'cpu.stat': 'usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\nnr_periods 9\n',
};

const VERSION_1 = {
  'memory/memory.usage_in_bytes': '50331648\n',
  'memory/memory.max_usage_in_bytes': '73400320\n',
  'memory/memory.stat': 'cache 16777216\ninactive_file 1\ntotal_inactive_file 8388608\n',
  'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
  'pids/pids.events': 'max 41\n',
  'cpuacct/cpuacct.usage': '1234567890\n',
};

const MEMORY = { 2: { unified: true, folder: '' }, 1: { unified: false, folder: 'memory' } };

describe.each([
  [2, VERSION_2, 1_234.567],
  [1, VERSION_1, 1_234.56789],
] as const)("a container's own counters, control groups version %i", (version, files, cpuMs) => {
  const memory = (): number | null => {
    const { unified, folder } = MEMORY[version];
    return readControlGroupMemory({ unified, memory: join(root, folder) });
  };

  it('are read', () => {
    show(files);
    expect(ownUsage(root)).toEqual({ cpuMs, maxRssBytes: 73_400_320, oomKills: 2, pidsRefused: 41 });
    expect(memory()).toBe(50_331_648 - 8_388_608);
  });

  it('are null if an older kernel lacks them', () => {
    const older = Object.entries(files).filter(([name]) => !/peak|max_usage|events|oom_control/.test(name));
    show(Object.fromEntries(older));
    expect(ownUsage(root)).toEqual({ cpuMs, maxRssBytes: null, oomKills: null, pidsRefused: null });
  });

  it('are null if a file is empty or holds no number', () => {
    show({ ...Object.fromEntries(Object.keys(files).map((name) => [name, ''])) });
    expect(ownUsage(root)).toEqual({ cpuMs: null, maxRssBytes: null, oomKills: null, pidsRefused: null });
    expect(memory()).toBeNull();
    show({ 'memory.peak': 'max\n', 'memory/memory.max_usage_in_bytes': '-1\n' });
    expect(ownUsage(root).maxRssBytes).toBeNull();
  });
});

it('a folder without control groups has no counters', () => {
  expect(ownUsage(root)).toEqual({ cpuMs: null, maxRssBytes: null, oomKills: null, pidsRefused: null });
});
