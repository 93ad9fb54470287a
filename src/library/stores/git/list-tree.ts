import type { SourceEntry } from '../contents/source-files.ts';

/** Contents of a folder of a commit, at any depth. */
export interface ListedTree {
  entries: SourceEntry[];
  /** Ids of files by their paths. */
  files: ReadonlyMap<string, string>;
  /** Ids of folders by their paths. */
  folders: ReadonlyMap<string, string>;
}

const ROW = /^(\d{6}) (blob|tree|commit) ([0-9a-f]{40,64}) +(\d+|-)\t([^]*)$/;

/**
 * Reads the output of `git ls-tree -r -t -l -z`. A name that is not UTF-8 gets U+FFFD, and is refused for it.
 *
 * @throws Error for any other output
 */
export function readTreeList(printed: Buffer): ListedTree {
  const entries: SourceEntry[] = [];
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const row of printed.toString('utf8').split('\0')) {
    if (row === '') continue;
    const match = ROW.exec(row);
    if (match === null) throw new Error('git listed a commit in an unknown format');
    const [, mode = '', type = '', id = '', size = '', path = ''] = match;
    if (type === 'tree') {
      folders.set(path, id);
      // Names below an invalid folder name have rows of their own.
      continue;
    }
    entries.push({
      path,
      kind: kindOf(mode, type),
      bytes: size === '-' ? 0 : Number(size),
      executable: mode === '100755',
    });
    // A name that cannot be the path of a file is among the entries, but is never read.
    if (type === 'blob' && !files.has(path)) files.set(path, id);
  }
  return { entries, files, folders };
}

function kindOf(mode: string, type: string): SourceEntry['kind'] {
  if (type === 'commit') return 'submodule';
  if (mode === '120000') return 'link';
  return mode.startsWith('100') ? 'file' : 'other';
}
