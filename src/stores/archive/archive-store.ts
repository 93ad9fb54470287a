import { basename, join, resolve } from 'node:path';
import type { Diagnostic } from '../../contracts/diagnostic.ts';
import type { RootKind } from '../../contracts/skill.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { Call, SkillHead, SkillStore, SkillView, StoreItem } from '../../contracts/store.ts';
import { ArchiveRefusal, archiveRefused } from '../../archives/archive-refused.ts';
import { openArchive } from '../../archives/open-archive.ts';
import { archiveIdentity, readArchiveFile } from '../../archives/read-archive-file.ts';
import { skillName } from '../../archives/skill-name.ts';
import { SKILL_BYTES } from '../../skills/load/read-manifest.ts';
import { readRegularFile } from '../../skills/load/read-regular-file.ts';
import { SKILL_FILE, skillFileNames } from '../../skills/load/skill-file-name.ts';
import { TOOLS_FILE } from '../../skills/load/read-skill-parts.ts';
import { TEXT_FILE_LIMIT } from '../../skills/text/decode-text.ts';
import type { TreeCache } from '../cache/tree-cache.ts';

/** An archive of skills. */
export interface ArchiveStoreOptions {
  path: string;
  kind: RootKind;
  cache: TreeCache;
}

/** What an archive held when it was read last. */
interface ReadOnce {
  identity: string;
  items: StoreItem[];
  diagnostics: Diagnostic[];
  /** Digests by path. */
  digests: ReadonlyMap<string, string>;
}

/**
 * Reads skills from a .zip, .skill or .tar.gz file, by the folders in it. Revisions are the skills' digests: an archive that was packed anew from
 * the same files has the same ones. What was read is kept in the cache, and read again only when the file changed.
 */
export function createArchiveStore({ path, kind, cache }: ArchiveStoreOptions): SkillStore {
  const source = resolve(path);
  let last: ReadOnce | undefined;

  /** Reads the file where it is another than before; its skills are then in the cache. */
  const read = async (signal: AbortSignal | undefined, again = false): Promise<ReadOnce> => {
    signal?.throwIfAborted();
    if (!again && last !== undefined && (await available(source, archiveIdentity(source))) === last.identity)
      return last;
    const { bytes, identity } = await available(source, readArchiveFile(source));
    const opened = await openArchive(bytes, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw archiveRefused(error, JSON.stringify(source));
    });
    const items: StoreItem[] = [];
    const digests = new Map<string, string>();
    for (const { folder, tree } of opened.skills) {
      signal?.throwIfAborted();
      const { digest } = cache.keep(tree);
      // A skill at the root has no folder that names it.
      const dir = folder === '.' ? skillName('.', basename(source)) || '.' : folder;
      digests.set(dir, digest);
      items.push({ path: dir, revision: digest, origin: { type: 'archive', source, folder }, kind });
    }
    last = { identity, items, diagnostics: opened.diagnostics, digests };
    return last;
  };

  const view = async (item: StoreItem, { signal }: Call = {}): Promise<SkillView> => {
    if ((await read(signal)).digests.get(item.path) !== item.revision) throw changed(source, item);
    const found = cache.find(item.revision);
    if (found !== undefined) return found;
    // Evicted, or spoiled by somebody.
    await read(signal, true);
    const anew = cache.find(item.revision);
    if (anew === undefined) throw changed(source, item);
    return anew;
  };

  return {
    id: `archive:${source}`,
    async list({ signal } = {}) {
      const { items, diagnostics } = await read(signal);
      return { items: [...items], diagnostics: [...diagnostics] };
    },
    async head(item, call) {
      return headOf(item, await view(item, call));
    },
    open: view,
    async close() {
      last = undefined;
    },
  };
}

function headOf(item: StoreItem, { files, folder }: SkillView): SkillHead {
  const names = files.map(({ path, bytes }) => ({ path, bytes }));
  const textOf = (name: string): Uint8Array =>
    readRegularFile(join(folder, name), { keep: TEXT_FILE_LIMIT, limit: SKILL_BYTES }).content ?? Buffer.alloc(0);
  const [skillFile = SKILL_FILE] = skillFileNames(names.map(({ path }) => path));
  const head: SkillHead = { item, names, skillFile: { path: skillFile, bytes: textOf(skillFile) } };
  return names.some(({ path }) => path === TOOLS_FILE) ? { ...head, tools: textOf(TOOLS_FILE) } : head;
}

/** A file that is not there, or cannot be read, is an outage: never an archive without skills. */
async function available<Result>(source: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ArchiveRefusal) throw archiveRefused(error, JSON.stringify(source));
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : message;
    throw new SkillcellError('store.unavailable', `Cannot read skills: ${reason}, got ${JSON.stringify(source)}.`, {
      cause: error,
    });
  }
}

function changed(source: string, { path }: StoreItem): SkillcellError {
  const shown = JSON.stringify(`${source}:${path}`);
  return new SkillcellError('store.changed', `Cannot read the skill: the archive changed, got ${shown}.`);
}
