import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { RootKind, SkillTree } from '../../contracts/skill.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { SkillHead, SkillStore, StoreItem } from '../../contracts/store.ts';
import { findSkillFolders, skillFolderAt, type SkillFolder } from '../../skills/load/find-skill-folders.ts';
import { listFolder } from '../../skills/load/list-folder.ts';
import { listSkillFiles } from '../../skills/load/list-skill-files.ts';
import { SKILL_BYTES } from '../../skills/load/read-manifest.ts';
import { readRegularFile } from '../../skills/load/read-regular-file.ts';
import { TOOLS_FILE } from '../../skills/load/read-skill-parts.ts';
import { TEXT_FILE_LIMIT } from '../../skills/text/decode-text.ts';
import type { TreeCache } from '../cache/tree-cache.ts';

/** A folder of skills. */
export interface DirectoryStoreOptions {
  path: string;
  kind: RootKind;
  cache: TreeCache;
}

/** Reads skills from a folder, by the same walk as a root: no link is followed, and what is left out is named. */
export function createDirectoryStore({ path, kind, cache }: DirectoryStoreOptions): SkillStore {
  const id = `directory:${resolve(path)}`;
  const placeOf = (item: StoreItem): string => join(existing(path), item.path);

  const itemOf = (root: string, folder: SkillFolder): StoreItem => ({
    path: folder.dir,
    revision: revisionOf(join(root, folder.dir), folder),
    origin: { type: 'directory', source: resolve(path), folder: folder.dir },
    kind,
  });

  /** The folder of an item as it is now. */
  const folderOf = (item: StoreItem): SkillFolder => {
    const place = placeOf(item);
    const folder = unlessGone(() => skillFolderAt(place, item.path));
    if (folder === undefined || unlessGone(() => revisionOf(place, folder)) !== item.revision) throw changed(item);
    return folder;
  };

  return {
    id,
    async list() {
      const root = existing(path);
      const { folders, diagnostics } = findSkillFolders(root);
      const found = [...diagnostics];
      const items = folders.map((folder) => itemOf(root, folder));
      return { items, diagnostics: found };
    },
    async head(item): Promise<SkillHead> {
      const folder = folderOf(item);
      const place = placeOf(item);
      const paths = pathsIn(place, folder, item);
      const text = (name: string): Uint8Array | undefined =>
        readRegularFile(join(place, name), { keep: TEXT_FILE_LIMIT, limit: SKILL_BYTES }).content;
      const head: SkillHead = {
        item,
        names: paths.map((each) => ({ path: each, bytes: lstatSync(join(place, each)).size })),
        skillFile: { path: folder.skillFile, bytes: text(folder.skillFile) ?? Buffer.alloc(0) },
      };
      const tools = paths.includes(TOOLS_FILE) ? text(TOOLS_FILE) : undefined;
      return tools === undefined ? head : { ...head, tools };
    },
    async open(item) {
      const place = placeOf(item);
      const folder = folderOf(item);
      const tree: SkillTree = new Map();
      let left = SKILL_BYTES;
      for (const each of pathsIn(place, folder, item)) {
        const file = unlessGone(() => readRegularFile(join(place, each), { keep: left, limit: left }));
        if (file?.content === undefined) throw changed(item);
        left -= file.bytes;
        tree.set(each, { bytes: file.content, executable: file.executable });
      }
      // What was written while it was read would be of two revisions.
      folderOf(item);
      return cache.keep(tree);
    },
    async close() {},
  };

  function existing(given: string): string {
    try {
      const real = realpathSync.native(resolve(given));
      if (lstatSync(real).isDirectory()) return real;
    } catch {
      // Said below.
    }
    throw new SkillcellError('store.unavailable', `Cannot read skills: there is no folder, got ${resolve(given)}.`);
  }

  function changed(item: StoreItem): SkillcellError {
    const name = item.path === '.' ? basename(resolve(path)) : item.path;
    return new SkillcellError('store.changed', `Cannot read the skill: it changed after it was listed, got ${name}.`);
  }

  function pathsIn(place: string, folder: SkillFolder, item: StoreItem): string[] {
    const listed = listSkillFiles(place, folder.listing, item.path === '.' ? '' : `${item.path}/`);
    if (listed.paths !== undefined) return listed.paths;
    const [reason] = listed.diagnostics.toReversed();
    throw new SkillcellError('store.unavailable', `Cannot read the skill: ${reason?.message ?? ''}`, {
      diagnostics: listed.diagnostics,
    });
  }
}

/** What no change of a byte, a mode or a place in the folder leaves as it is. */
function revisionOf(place: string, { listing }: SkillFolder): string {
  const hash = createHash('sha256');
  const visit = (below: string, { files, folders, links }: SkillFolder['listing']): void => {
    for (const name of [...files, ...links]) {
      const { ino, mode, size, mtimeNs, ctimeNs } = lstatSync(join(place, below, name), { bigint: true });
      hash.update(`${below}${name}\0${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}\n`);
    }
    for (const name of folders) visit(`${below}${name}/`, listFolder(join(place, below, name)));
  };
  visit('', listing);
  return hash.digest('hex');
}

function unlessGone<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    // Gone, grown, or swapped for something else.
    return undefined;
  }
}
