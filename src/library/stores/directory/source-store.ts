import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { RootKind } from '../../../contracts/skills/skill.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Call, SkillStore, StoreItem } from '../../../contracts/skills/store.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { joined } from '../contents/file-tree.ts';
import type { FindOptions } from '../contents/find-contents.ts';
import { readSkillHead, readSkillTree } from '../contents/read-skill-tree.ts';
import type { FoundSkill, PluginElsewhere } from '../contents/source-contents.ts';
import { assertSeen, existingFolder, readableFolder } from './existing-folder.ts';
import { lookAtFile } from './list-source.ts';
import { walkUntilSteady } from './steady-walk.ts';
import { readerIn, revisionOf, type SourceWalk, walkSource } from './walk-source.ts';

/** A folder that skills are installed from. */
export interface SourceStoreOptions extends FindOptions {
  /** The folder. A link to it is followed; links below it are not. */
  path: string;
  kind: RootKind;
  cache: TreeCache;
}

/** A store that also lists the plugins of its marketplaces in other repositories. */
export interface SourceStore extends SkillStore {
  elsewhere(call?: Call): Promise<readonly PluginElsewhere[]>;
}

/**
 * Reads skills from a folder as from a repository or an archive: skills that its marketplaces and plugins list, besides those that a root would
 * load. Links are not followed. A list is the state of the folder at one moment.
 */
export function createSourceStore({ path, kind, cache, ...find }: SourceStoreOptions): SourceStore {
  const source = resolve(path);
  let last: SourceWalk | undefined;

  const walk = async ({ signal }: Call): Promise<SourceWalk> => {
    const root = readableFolder(source);
    const found = await readable(
      source,
      walkUntilSteady(() => walkSource(root, find), last, source, signal),
    );
    assertSeen(found.contents.diagnostics, source);
    last = found;
    return found;
  };

  /** Reads a skill as it was listed. @throws SkillcellError `store.changed` */
  const reading = async <Result>(
    item: StoreItem,
    call: Call,
    read: (root: string, found: FoundSkill) => Promise<Result>,
  ): Promise<Result> => {
    call.signal?.throwIfAborted();
    const root = existingFolder(source);
    const { skills } = last ?? (await walk(call));
    const found = skills.find((each) => each.found.folder === item.path)?.found;
    if (found === undefined || revisionNow(root, found) !== item.revision) throw changed(source, item);
    // A write during the read would mix two revisions. A file that fails to read may be gone.
    const result = await readable(source, read(root, found)).catch((error: unknown) => {
      throw revisionNow(root, found) === item.revision ? error : changed(source, item);
    });
    if (revisionNow(root, found) !== item.revision) throw changed(source, item);
    return result;
  };

  return {
    id: `directory:${source}`,
    async elsewhere(call = {}) {
      return (last ?? (await walk(call))).contents.elsewhere;
    },
    async list(call = {}) {
      const { skills, contents } = await walk(call);
      const items = skills.map(({ found: { folder, plugin }, revision }): StoreItem => ({
        path: folder,
        revision,
        origin: { type: 'directory', source, folder, ...(plugin === undefined ? {} : { plugin }) },
        kind,
      }));
      return { items, diagnostics: contents.diagnostics };
    },
    async head(item, call = {}) {
      return await reading(
        item,
        call,
        async (root, found) => await readSkillHead({ entries: [], read: readerIn(root) }, found, item),
      );
    },
    async open(item, call = {}) {
      const tree = await reading(
        item,
        call,
        async (root, found) => await readSkillTree({ entries: [], read: readerIn(root) }, found),
      );
      return cache.keep(tree);
    },
    async close() {
      last = undefined;
    },
  };
}

/** Undefined where a file of the skill is gone. */
function revisionNow(root: string, { folder, files }: FoundSkill): string | undefined {
  try {
    return revisionOf(files.map(({ path }) => lookAtFile(root, joined(folder, path))));
  } catch {
    return undefined;
  }
}

/** A failed read is an outage of the source. If this user lacks permission for one file, a diagnostic names it. */
async function readable<Result>(source: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    const { code, message: said, path } = error as NodeJS.ErrnoException;
    if (SkillcellError.isInstance(error) || typeof code !== 'string') throw error;
    const message = `Cannot read skills: ${said}, got ${source}.`;
    const isClosed = path !== undefined && (code === 'EACCES' || code === 'EPERM');
    const place = isClosed ? relative(realpathSync.native(source), path) : '';
    const diagnostics = isClosed
      ? [diagnostic('skill.unreadable', `The file cannot be read: ${said}.`, { path: place })]
      : [];
    throw new SkillcellError('store.unavailable', message, { cause: error, diagnostics });
  }
}

function changed(source: string, { path }: StoreItem): SkillcellError {
  const message = `Cannot read the skill ${quotedText(path)} of ${source}: it changed after it was listed.`;
  return new SkillcellError('store.changed', message);
}
