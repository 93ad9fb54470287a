import { basename, resolve } from 'node:path';
import * as z from 'zod/mini';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { RootKind } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Call, SkillStore, SkillView, StoreItem } from '../../../contracts/skills/store.ts';
import { ArchiveRefusal, archiveRefused } from '../../../archives/checks/archive-refused.ts';
import { openArchive } from '../../../archives/open-archive.ts';
import { skillName } from '../../../archives/skill-name.ts';
import { checkStoreOptions, OUTGOING_SHAPE } from '../cache/check-store-options.ts';
import { headOfView } from '../cache/head-of-view.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { type ArchiveAddress, archiveAtAddress } from './archive-at-address.ts';
import { archiveIdentity, readArchiveFile } from '../../../archives/read-archive-file.ts';
import type { ArchivePlace } from './archive-place.ts';

/** An archive of skills, in a file or behind an address. */
export type ArchiveStoreOptions = { kind: RootKind; cache: TreeCache } & ({ path: string } | ArchiveAddress);

/** Result of the last read of an archive. */
interface ReadOnce {
  identity: string;
  items: StoreItem[];
  diagnostics: Diagnostic[];
  /** Digests by path. */
  digests: ReadonlyMap<string, string>;
}

/**
 * Reads the skills of a .zip, .skill or .tar.gz archive, by its folders. The revision of a skill is its digest: packing the same files anew keeps
 * it. The content stays in the cache. A file is read again only after a change, an address on every list.
 *
 * @throws SkillcellError `source.refused` for an address that is not allowed; `options.invalid`
 * @example
 * ```ts
 * import { execFileSync } from 'node:child_process';
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { createArchiveStore, openTreeCache } from 'skillcell/stores';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * execFileSync('tar', ['-czf', 'skills.tar.gz', '-C', 'skills', 'units']);
 * const store = createArchiveStore({ path: 'skills.tar.gz', kind: 'user', cache: openTreeCache('cache') });
 * const { items } = await store.list();
 * for (const item of items) console.log(item.path, (await store.open(item)).files.map(({ path }) => path));
 * // prints: units [ 'SKILL.md' ]
 * ```
 */
export function createArchiveStore(options: ArchiveStoreOptions): SkillStore {
  checkStoreOptions('path' in Object(options) ? { path: z.string().check(z.minLength(1)) } : OUTGOING_SHAPE, options);
  const { kind, cache, ...given } = options;
  const place = 'path' in given ? archiveInFile(given.path) : archiveAtAddress(given);
  const { source } = place;
  let last: ReadOnce | undefined;

  /** Reads the archive and puts its skills into the cache. */
  const read = async (signal: AbortSignal | undefined): Promise<ReadOnce> => {
    const { bytes, identity } = await place.read(signal);
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

  /** Reads the archive unless its identity is unchanged. */
  const readChanged = async (signal: AbortSignal | undefined): Promise<ReadOnce> => {
    signal?.throwIfAborted();
    const identity = last === undefined ? undefined : await place.identity?.();
    return last !== undefined && last.identity === identity ? last : await read(signal);
  };

  const view = async (item: StoreItem, { signal }: Call = {}): Promise<SkillView> => {
    signal?.throwIfAborted();
    const isListed = place.identity === undefined && last?.digests.get(item.path) === item.revision;
    const { digests } = isListed && last !== undefined ? last : await readChanged(signal);
    if (digests.get(item.path) !== item.revision) throw changed(source, item);
    const found = cache.find(item.revision);
    if (found !== undefined) return found;
    // Evicted, or damaged in the cache.
    const anew = (await read(signal)).digests.get(item.path) === item.revision ? cache.find(item.revision) : undefined;
    if (anew === undefined) throw changed(source, item);
    return anew;
  };

  return {
    id: `archive:${source}`,
    async list({ signal } = {}) {
      const { items, diagnostics } = await readChanged(signal);
      return { items: [...items], diagnostics: [...diagnostics] };
    },
    async head(item, call) {
      const head = headOfView(item, await view(item, call));
      if (head === undefined) throw changed(source, item);
      return head;
    },
    open: view,
    async close() {
      last = undefined;
    },
  };
}

function changed(source: string, { path }: StoreItem): SkillcellError {
  const shown = JSON.stringify(`${source}:${path}`);
  return new SkillcellError('store.changed', `Cannot read the skill ${shown}: the archive changed.`);
}

/** An archive in a local file. */
function archiveInFile(path: string): ArchivePlace {
  const source = resolve(path);
  return {
    source,
    identity: async () => await available(source, archiveIdentity(source)),
    read: async () => await available(source, readArchiveFile(source)),
  };
}

/** A missing or unreadable file is an outage, never an archive without skills. */
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
