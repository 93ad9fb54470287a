import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GroupMemory, groupMemory } from '../../../runtime/sandbox/group-memory.ts';

const MIB = 1024 * 1024;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-group-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Counters of a group, in MiB. */
interface Shown {
  usage: number;
  peak: number;
  anonymous: number;
  shared: number;
  touched: number;
  /** Number of processes that the kernel has killed. */
  killed: number;
}

const FORMS = {
  2: (shown: Shown) => ({
    'memory.current': `${shown.usage * MIB}\n`,
    'memory.peak': `${shown.peak * MIB}\n`,
    'memory.stat': `anon ${shown.anonymous * MIB}\nfile 7\nshmem ${shown.shared * MIB}\npgfault ${shown.touched * 256}\n`,
    'memory.events': `oom 9\noom_kill ${shown.killed}\n`,
  }),
  // The lines without `total_` omit the memory of subgroups.
  1: (shown: Shown) => ({
    'memory.usage_in_bytes': `${shown.usage * MIB}\n`,
    'memory.max_usage_in_bytes': `${shown.peak * MIB}\n`,
    'memory.stat': `rss 1\nshmem 1\npgfault 1\ntotal_rss ${shown.anonymous * MIB}\ntotal_shmem ${shown.shared * MIB}\ntotal_pgfault ${shown.touched * 256}\n`,
    'memory.oom_control': `oom_kill_disable 0\nunder_oom 0\noom_kill ${shown.killed}\n`,
  }),
};

const isOver = (memory: GroupMemory): boolean => memory.heldAbove(100 * MIB) > 100 * MIB;

describe.each([2, 1] as const)('memory of user code, by control groups version %i', (version) => {
  let files: number;
  function show(shown: Partial<Shown>): void {
    const all = { usage: 60, peak: 60, anonymous: 30, shared: 0, touched: 100, killed: 3, ...shown };
    for (const [name, text] of Object.entries(FORMS[version](all))) writeFileSync(join(folder, name), text);
  }
  /** The supervisor holds 20 MiB of the group. */
  function open(shown: Partial<Shown> = {}): GroupMemory {
    show(shown);
    files = 0;
    return groupMemory(
      folder,
      () => files * MIB,
      () => 20 * MIB,
    );
  }

  it('is the anonymous memory without the supervisor’s own', () => {
    const memory = open();
    show({ anonymous: 119 });
    expect(isOver(memory)).toBe(false);
    show({ anonymous: 121 });
    expect(isOver(memory)).toBe(true);
  });

  it('was too much if the kernel has killed a process since, not before', () => {
    const memory = open();
    expect(memory.hasKilled()).toBe(false);
    show({ killed: 4 });
    expect(memory.hasKilled()).toBe(true);
  });

  it('includes shared memory, but not files', () => {
    const memory = open();
    show({ anonymous: 60, shared: 90 });
    expect(isOver(memory)).toBe(true);
    files = 90;
    expect(isOver(memory)).toBe(false);
  });

  it('was over if a peak exceeds the limit by more than the kernel needs', () => {
    const memory = open();
    show({ peak: 260, touched: 250 });
    expect(memory.wasOver(100 * MIB)).toBe(true);
    // 30 MiB of the kernel and of the page cache, 20 of the supervisor, 16 for the kernel's own use at the peak.
    show({ peak: 165, touched: 250 });
    expect(memory.wasOver(100 * MIB)).toBe(false);
    show({ peak: 168, touched: 250 });
    expect(memory.wasOver(100 * MIB)).toBe(true);
  });

  it('was not over for a peak of files, kept or removed', () => {
    const memory = open();
    show({ usage: 260, peak: 260, shared: 200, touched: 250 });
    files = 200;
    expect(isOver(memory)).toBe(false);
    expect(memory.wasOver(100 * MIB)).toBe(false);
    show({ peak: 260, touched: 250 });
    expect(memory.wasOver(100 * MIB)).toBe(false);
  });

  it('was not over for a peak without page faults: files that came and went between two checks', () => {
    const memory = open();
    show({ peak: 260, touched: 90 });
    expect(memory.wasOver(100 * MIB)).toBe(false);
    show({ peak: 260, touched: 110 });
    expect(memory.wasOver(100 * MIB)).toBe(true);
  });

  it('was not over for an earlier peak', () => {
    const memory = open({ peak: 260, touched: 250 });
    expect(memory.wasOver(100 * MIB)).toBe(false);
    show({ peak: 261, touched: 250 });
    expect(memory.wasOver(100 * MIB)).toBe(true);
  });
});
