import { dirname, relative, sep } from 'node:path';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { Skill, SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Origin, SkillStore, SkillView, StoreItem } from '../../contracts/skills/store.ts';
import { loadStoreRoot } from '../../skills/load/load-store-root.ts';
import { SKILL_FILE } from '../../skills/load/files/skill-file-name.ts';
import { skillDigest } from '../../skills/text/digest.ts';
import { listFiles } from '../stores/cache/tree-cache.ts';
import type { PluginElsewhere } from '../stores/contents/source-contents.ts';
import type { LockedOrigin } from '../lock/format/lock-format.ts';
import { readTree } from '../lock/read-tree.ts';
import { openSource, type OpenSourceOptions } from './open-source.ts';
import { sourceName } from '../source-name.ts';
import type { SourceSpec } from './source-spec.ts';

/** A skill of a source, ready to be locked. */
export interface FoundSkill {
  skill: Skill;
  origin: LockedOrigin;
  /** Reads its bytes, which have the digest of the skill. @throws SkillcellError `store.changed` */
  read(): SkillTree;
}

/** A skill with refused bytes: they differ from the list, or its archive is refused. */
export interface RefusedSkill {
  /** Its folder in the source. */
  folder: string;
  error: SkillcellError;
}

/** Contents of a source. */
export interface SourceContents {
  skills: FoundSkill[];
  /** They also have a diagnostic; a request for one of them gets its error. */
  refused: RefusedSkill[];
  /** Reasons for left-out skills and files, and diagnostics of the others. */
  diagnostics: Diagnostic[];
}

/** Options of {@link findInSource}. */
export interface FindInSourceOptions extends Omit<OpenSourceOptions, 'kind'> {
  /** Absolute path of the folder of the lock file. Local sources are locked relative to it. */
  lockFolder: string;
  /** Folders of skills in the source; all if absent. */
  only?: ReadonlySet<string> | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fetches the skills of a source, with all their bytes.
 *
 * @throws SkillcellError `source.refused`, `store.unavailable`, `store.changed`
 */
export async function findInSource(spec: SourceSpec, options: FindInSourceOptions): Promise<SourceContents> {
  const { lockFolder, only, plugin, signal } = options;
  const store = await openSource(spec, { ...options, kind: 'project' });
  try {
    const { items, diagnostics } = await store.list({ signal });
    // Plugins in another repository may refer to further ones; those are not followed.
    const elsewhere = only === undefined && plugin === undefined ? ((await store.elsewhere?.({ signal })) ?? []) : [];
    const inside = items.filter(
      ({ origin: { folder } }) => isBelow(folder, spec.folder) && (only === undefined || only.has(folder)),
    );
    if (spec.folder !== undefined && inside.length + elsewhere.length === 0 && only === undefined)
      throw new SkillcellError(
        'source.refused',
        `Cannot use the source: it has no skill in that folder, got ${JSON.stringify(spec.folder)}.`,
        { diagnostics },
      );
    const found: SourceContents = { skills: [], refused: [], diagnostics: [...diagnostics] };
    const isSaid = saidBy(diagnostics, items);
    for (const item of inside) {
      const view = await openOrRefuse(store, item, found, signal);
      if (view === undefined) continue;
      const loaded = loadStoreRoot(
        { kind: 'project', name: sourceName(spec.source), skills: [{ dir: item.path, place: view.folder }] },
        { overrides: new Set(), customNamespaces: new Set() },
        0,
      );
      found.diagnostics.push(...loaded.diagnostics.filter((one) => !isSaid(one)));
      const [skill] = loaded.skills;
      if (skill?.digest !== view.digest) continue;
      found.skills.push({ skill, origin: lockedOrigin(spec, item.origin, lockFolder), read: () => readView(view) });
    }
    for (const one of elsewhere) append(found, await findElsewhere(one, options));
    return found;
  } finally {
    await store.close();
  }
}

/** Whether the store already reported a diagnostic of the load. `skill.nested` is dropped where the nested skill itself is taken. */
function saidBy(diagnostics: readonly Diagnostic[], items: readonly StoreItem[]): (found: Diagnostic) => boolean {
  const keyOf = ({ code, path }: Diagnostic): string => `${code}\0${path}`;
  const said = new Set(diagnostics.map(keyOf));
  const taken = new Set(items.map(({ path }) => path));
  return (found) => said.has(keyOf(found)) || (found.code === 'skill.nested' && taken.has(dirname(found.path ?? '')));
}

const REFUSALS: ReadonlySet<string> = new Set(['store.changed', 'archive.refused', 'source.refused']);

/** Opens a skill, or reports it as refused; other skills of the source are not affected. An outage concerns the whole source. */
async function openOrRefuse(
  store: SkillStore,
  item: StoreItem,
  { refused, diagnostics }: SourceContents,
  signal: AbortSignal | undefined,
): Promise<SkillView | undefined> {
  try {
    return await store.open(item, { signal });
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    const isUnreadable = error.code === 'store.unavailable' && error.diagnostics.length > 0;
    if (!isUnreadable && !REFUSALS.has(error.code)) throw error;
    refused.push({ folder: item.origin.folder, error });
    if (isUnreadable) {
      // The diagnostics name the unreadable files.
      diagnostics.push(...error.diagnostics);
      return undefined;
    }
    const message = `The skill ${quotedText(item.path)} is not taken (${error.code}): ${error.message}`;
    diagnostics.push(libraryDiagnostic('source.skill', message, { path: `${item.origin.folder}/${SKILL_FILE}` }));
    return undefined;
  }
}

/** An unreachable plugin does not affect the rest of its marketplace. */
async function findElsewhere(plugin: PluginElsewhere, options: FindInSourceOptions): Promise<SourceContents> {
  const { url, commit, ref } = plugin;
  const wanted = commit ?? ref;
  const spec: SourceSpec = { kind: 'git', source: url, ...(wanted === undefined ? {} : { ref: wanted }) };
  try {
    return await findInSource(spec, { ...options, plugin });
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    const message = `The plugin ${quotedText(plugin.plugin)} is not taken: ${error.message}`;
    return { skills: [], refused: [], diagnostics: [libraryDiagnostic('source.unavailable', message)] };
  }
}

function append(found: SourceContents, more: SourceContents): void {
  found.skills.push(...more.skills);
  found.refused.push(...more.refused);
  found.diagnostics.push(...more.diagnostics);
}

function isBelow(path: string, folder: string | undefined): boolean {
  return folder === undefined || path === folder || path.startsWith(`${folder}/`);
}

/** Local paths are useless on another machine: they are locked relative to the lock file. */
function lockedOrigin({ kind, source, ref }: SourceSpec, origin: Origin, lockFolder: string): LockedOrigin {
  const { folder, commit, plugin } = origin;
  const shown = source.startsWith('/') ? relative(lockFolder, source).split(sep).join('/') || '.' : source;
  return {
    type: kind,
    source: source.startsWith('/') && !shown.startsWith('.') ? `./${shown}` : shown,
    folder,
    ...(commit === undefined ? {} : { commit }),
    ...(ref === undefined ? {} : { ref }),
    ...(plugin === undefined ? {} : { plugin }),
  };
}

function readView(view: SkillView): SkillTree {
  const tree = readTree(view.folder, view.files);
  if (skillDigest(listFiles(tree)) === view.digest) return tree;
  throw new SkillcellError(
    'store.changed',
    `Cannot read the skill: its copy in the cache has changed, got ${view.digest}.`,
  );
}
