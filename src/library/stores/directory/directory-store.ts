import { basename, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { RootKind, SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { SkillHead, SkillStore, StoreItem } from '../../../contracts/skills/store.ts';
import { skillFolderAt } from '../../../skills/load/find-skill-folders.ts';
import { type ManifestOptions, readManifest, SKILL_BYTES } from '../../../skills/load/read-manifest.ts';
import { readRegularFile } from '../../../skills/load/files/read-regular-file.ts';
import { TOOLS_FILE } from '../../../skills/load/read-skill-parts.ts';
import { checkStoreOptions } from '../cache/check-store-options.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { assertSeen, existingFolder, readableFolder } from './existing-folder.ts';
import { walkUntilSteady } from './steady-walk.ts';
import { type FoundSkill, lookAtSkill, type SkillWalk, walkSkills } from './walk-skills.ts';
import { type FSWatcher, watch } from 'node:fs';

/** A folder of skills. */
export interface DirectoryStoreOptions {
  /** The folder. A link to it is followed; links below it are not. */
  path: string;
  kind: RootKind;
  cache: TreeCache;
}

/**
 * Reads skills from a folder, by the same walk as a root. Links are not followed, and names that are left out are reported. A list is the state of
 * the folder at one moment.
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { createDirectoryStore, openTreeCache } from 'skillcell';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const store = createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') });
 * const { items } = await store.list();
 * for (const item of items) console.log(item.path, (await store.open(item)).files.map(({ path }) => path));
 * // prints: units [ 'SKILL.md' ]
 * ```
 */
export function createDirectoryStore(options: DirectoryStoreOptions): SkillStore {
  checkStoreOptions({ path: z.string().check(z.minLength(1)) }, options);
  const { path, kind, cache } = options;
  const source = resolve(path);
  let earlier: SkillWalk | undefined;

  /** The present state of a listed skill. @throws SkillcellError `store.changed` */
  const listed = (item: StoreItem): { place: string; found: FoundSkill } => {
    const place = join(existingFolder(source), item.path);
    let found: FoundSkill | undefined;
    try {
      const folder = skillFolderAt(place, item.path);
      found = folder && lookAtSkill(place, folder).skill;
    } catch {
      // Gone, or swapped for something else.
    }
    if (found?.revision !== item.revision) throw changed(source, item);
    return { place, found };
  };

  /** The error for an unreadable file: the skill has changed, or this user has no permission. */
  const unreadable = (item: StoreItem, diagnostics: Diagnostic[]): SkillcellError => {
    listed(item);
    const message = `Cannot read the skill ${nameOf(source, item)}: ${diagnostics.at(-1)?.message ?? 'a file of it cannot be read.'}`;
    return new SkillcellError('store.unavailable', message, { diagnostics });
  };

  return {
    id: `directory:${source}`,
    async list({ signal } = {}) {
      const root = readableFolder(source);
      const walk = await walkUntilSteady(() => walkSkills(root), earlier, root, signal);
      assertSeen(walk.diagnostics, source);
      earlier = walk;
      const items = earlier.skills.map(({ folder, revision }): StoreItem => {
        const origin = { type: 'directory' as const, source, folder: folder.dir };
        return { path: folder.dir, revision, origin, kind };
      });
      return { items, diagnostics: [...earlier.diagnostics] };
    },
    async head(item, { signal } = {}): Promise<SkillHead> {
      signal?.throwIfAborted();
      const { place, found } = listed(item);
      const { files, diagnostics, ...read } = readManifest(place, manifestOptions(item, found));
      if (files === undefined) throw unreadable(item, diagnostics);
      const { texts } = read as { texts: ReadonlyMap<string, Uint8Array | null> };
      // A write during the read would mix two revisions.
      listed(item);
      const { skillFile } = found.folder;
      const tools = texts.get(TOOLS_FILE);
      return {
        item,
        names: found.files,
        // Null stands for a file that is too large to be read as text.
        skillFile: { path: skillFile, bytes: texts.get(skillFile) ?? Buffer.alloc(0) },
        ...(tools instanceof Uint8Array ? { tools } : {}),
        whole: { files, texts },
      };
    },
    async open(item, { signal } = {}) {
      signal?.throwIfAborted();
      const { place, found } = listed(item);
      const tree: SkillTree = new Map();
      let left = SKILL_BYTES;
      for (const file of found.files) {
        try {
          const { content, bytes, executable } = readRegularFile(join(place, file.path), { keep: left, limit: left });
          left -= bytes;
          tree.set(file.path, { bytes: content ?? Buffer.alloc(0), executable });
        } catch {
          // Gone, grown, swapped for a link, or unreadable: its manifest tells which.
          throw unreadable(item, readManifest(place, manifestOptions(item, found)).diagnostics);
        }
      }
      listed(item);
      return cache.keep(tree);
    },
    watch: (hint) => watchFolder(source, hint),
    async close() {},
  };
}

/** Uses the listing of the last look, as the folder may be gone by now. */
function manifestOptions({ path }: StoreItem, { folder: { listing } }: FoundSkill): ManifestOptions {
  return { listing, shown: path === '.' ? '' : `${path}/` };
}

function changed(source: string, item: StoreItem): SkillcellError {
  const message = `Cannot read the skill ${nameOf(source, item)}: it changed after it was listed.`;
  return new SkillcellError('store.changed', message);
}

function nameOf(source: string, { path }: StoreItem): string {
  return quotedText(path === '.' ? basename(source) : path);
}

/**
 * Calls `hint` when anything below a folder may have changed. A folder that cannot be watched, or is created later, gives no hints.
 *
 * @param folder absolute path
 */
function watchFolder(folder: string, hint: () => void): Disposable {
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, { recursive: true, persistent: false }, hint);
    // Too many watches, or the folder was removed. Callers also poll from time to time.
    watcher.on('error', hint);
  } catch {
    // As above.
  }
  return { [Symbol.dispose]: () => watcher?.close() };
}
