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
  /** Gives the file of the last mutant its own text back. */
  restore(): void;
}

const CACHE = process.getuid?.() === 0 ? '/var/cache/skillcell' : undefined;

/** Makes such a copy of links: what the tests build from the sources is its own, packages and tools are the checkout’s. */
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
  const before = new Set(cachedCopies());
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
      // A new file: the old one is the checkout's as well.
      renameSync(join(folder, file), kept);
      const text = readFileSync(kept, 'utf8');
      writeFileSync(join(folder, file), `${text.slice(0, start)}${replacement}${text.slice(end)}`);
    },
    restore,
    [Symbol.dispose]() {
      removeCopies(join(folder, '.toolchain', 'runtime'), before);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    // On another file system.
    copyFileSync(from, to);
  }
}

/** Removes the copies that sandboxes were started from, of bundles that only this tree has built. */
function removeCopies(built: string, before: ReadonlySet<string>): void {
  if (CACHE === undefined || !existsSync(built)) return;
  const digests = new Set(readdirSync(built).map((name) => digestOf(join(built, name))));
  for (const name of cachedCopies()) {
    const path = join(CACHE, name);
    if (!before.has(name) && digests.has(digestOf(path))) rmSync(path, { recursive: true, force: true });
  }
}

function cachedCopies(): string[] {
  if (CACHE === undefined || !existsSync(CACHE)) return [];
  return readdirSync(CACHE).filter((name) => existsSync(join(CACHE, name, 'manifest.json')));
}

function digestOf(folder: string): string {
  const path = join(folder, 'manifest.json');
  return existsSync(path) ? readFileSync(path, 'utf8') : folder;
}
