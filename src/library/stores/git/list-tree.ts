import type { SourceEntry } from '../contents/source-files.ts';

/** What a folder of a commit holds, at any depth. */
export interface ListedTree {
  entries: SourceEntry[];
  /** Ids of files by their paths. */
  files: ReadonlyMap<string, string>;
  /** Ids of folders by their paths. */
  folders: ReadonlyMap<string, string>;
}

const ROW = /^(\d{6}) (blob|tree|commit) ([0-9a-f]{40,64}) +(\d+|-)\t([^]*)$/;

/**
 * Reads what `git ls-tree -r -t -l -z` prints. A name that is no UTF-8 has U+FFFD in it, and is refused with that.
 *
 * @throws Error where it is something else
 */
export function readTreeList(printed: Buffer): ListedTree {
  const entries: SourceEntry[] = [];
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const row of printed.toString('utf8').split('\0')) {
    if (row === '') continue;
    const match = ROW.exec(row);
    if (match === null) throw new Error('git listed a commit in a form that is not known');
    const [, mode = '', type = '', id = '', size = '', path = ''] = match;
    if (type === 'tree') {
      folders.set(path, id);
      // What lies below a name that cannot be is listed in its own rows.
      continue;
    }
    entries.push({
      path,
      kind: kindOf(mode, type),
      bytes: size === '-' ? 0 : Number(size),
      executable: mode === '100755',
    });
    // What cannot be the path of a file is among the entries, and nobody reads it.
    if (type === 'blob' && !files.has(path)) files.set(path, id);
  }
  return { entries, files, folders };
}

function kindOf(mode: string, type: string): SourceEntry['kind'] {
  if (type === 'commit') return 'submodule';
  if (mode === '120000') return 'link';
  return mode.startsWith('100') ? 'file' : 'other';
}
