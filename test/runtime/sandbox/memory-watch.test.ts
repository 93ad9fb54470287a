import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchMemory, type WatchedSandbox } from '../../../runtime/sandbox/memory-watch.ts';

const MIB = 1024 * 1024;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-watch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function show({ peak, killed }: { peak: number; killed: number }): void {
  writeFileSync(join(folder, 'memory.current'), `${30 * MIB}\n`);
  writeFileSync(join(folder, 'memory.peak'), `${peak * MIB}\n`);
  writeFileSync(join(folder, 'memory.stat'), `anon ${20 * MIB}\nshmem 0\npgfault 9\n`);
  writeFileSync(join(folder, 'memory.events'), `oom_kill ${killed}\n`);
}

it.each<[number, boolean, boolean]>([
  [40, true, false],
  [40, false, true],
  [120, true, true],
  [120, false, true],
])(
  'at a peak of %i MiB, main process there: %s, a process that the kernel ended counts: %s',
  (peak, mainLives, counts) => {
    show({ peak: 40, killed: 0 });
    const layout = { level: 'none', memoryGroup: folder, workspace: folder };
    const watch = watchMemory({ layout } as WatchedSandbox, 100 * MIB);
    try {
      expect(watch.wasOver(mainLives)).toBe(false);
      show({ peak, killed: 1 });
      expect(watch.wasOver(mainLives)).toBe(counts);
    } finally {
      watch.stop();
    }
  },
);
