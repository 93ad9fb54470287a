import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Mutant } from './list-mutants.ts';

/** A copy of the checkout in which one mutant at a time is applied. */
export interface MutatedTree extends Disposable {
  folder: string;
  apply(mutant: Mutant): void;
  /** Restores the text of the last mutant's file. */
  restore(): void;
}

/** Makes such a copy of links: build results of the tests are its own, packages and tools are shared with the checkout. */
export function mutatedTree(root: string): MutatedTree {
  const folder = mkdtempSync(join(tmpdir(), 'mutated-'));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root });
  const files = listed
    .toString('utf8')
    .split('\0')
    .filter((file) => file !== '' && file !== 'node_modules' && existsSync(join(root, file)));
  for (const file of files) place(join(root, file), join(folder, file));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, '.toolchain'));
  for (const name of readdirSync(join(root, '.toolchain'))) {
    if (name === 'runtime' || name === 'locks') continue;
    symlinkSync(join(root, '.toolchain', name), join(folder, '.toolchain', name));
  }
  const kept = join(folder, '.toolchain', 'kept');
  let changed: string | undefined;
  const restore = (): void => {
    if (changed === undefined) return;
    renameSync(kept, join(folder, changed));
    changed = undefined;
  };
  return {
    folder,
    apply({ file, start, end, replacement }) {
      restore();
      changed = file;
      // A new file, because the old one is a hard link to the checkout's file.
      renameSync(join(folder, file), kept);
      const text = readFileSync(kept, 'utf8');
      writeFileSync(join(folder, file), `${text.slice(0, start)}${replacement}${text.slice(end)}`);
    },
    restore,
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    // The copy is on another file system.
    copyFileSync(from, to);
  }
}
