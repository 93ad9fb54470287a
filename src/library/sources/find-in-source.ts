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

/** A skill of a source, as it would be locked. */
export interface FoundSkill {
  skill: Skill;
  origin: LockedOrigin;
  /** Its bytes, which have the digest that was found. @throws SkillcellError `store.changed` */
  read(): SkillTree;
}

/** A skill of a source whose bytes are refused: other ones than are listed, or an archive of its own that is not read. */
export interface RefusedSkill {
  /** Its folder in the source. */
  folder: string;
  error: SkillcellError;
}

/** What a source holds. */
export interface SourceContents {
  skills: FoundSkill[];
  /** They are among the diagnostics as well: whoever asks for one of them gets its error. */
  refused: RefusedSkill[];
  /** What isn't taken, and what was found in what is, each with its reason. */
  diagnostics: Diagnostic[];
}

/** How a source is looked into. */
export interface FindInSourceOptions extends Omit<OpenSourceOptions, 'kind'> {
  /** Absolute path of the folder that the lock file is in: paths of sources are locked relative to it. */
  lockFolder: string;
  /** Folders of skills in the source; without it all. */
  only?: ReadonlySet<string> | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fetches the skills of a source, each byte of them.
 *
 * @throws SkillcellError `source.refused`, `store.unavailable`, `store.changed`
 */
export async function findInSource(spec: SourceSpec, options: FindInSourceOptions): Promise<SourceContents> {
  const { lockFolder, only, plugin, signal } = options;
  const store = await openSource(spec, { ...options, kind: 'project' });
  try {
    const { items, diagnostics } = await store.list({ signal });
    // What a plugin elsewhere says of still others is its own affair.
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

/** Whether a store has said of a skill what its load says again. A SKILL.md below another one that is taken is a skill of its own after all. */
function saidBy(diagnostics: readonly Diagnostic[], items: readonly StoreItem[]): (found: Diagnostic) => boolean {
  const keyOf = ({ code, path }: Diagnostic): string => `${code}\0${path}`;
  const said = new Set(diagnostics.map(keyOf));
  const taken = new Set(items.map(({ path }) => path));
  return (found) => said.has(keyOf(found)) || (found.code === 'skill.nested' && taken.has(dirname(found.path ?? '')));
}

const REFUSALS: ReadonlySet<string> = new Set(['store.changed', 'archive.refused', 'source.refused']);

/** Opens a skill, or names it as refused: the other ones of its source are no worse for that. An outage is one of the whole source. */
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
      // What nobody may read of it is named, and where.
      diagnostics.push(...error.diagnostics);
      return undefined;
    }
    const message = `The skill ${quotedText(item.path)} is not taken (${error.code}): ${error.message}`;
    diagnostics.push(libraryDiagnostic('source.skill', message, { path: `${item.origin.folder}/${SKILL_FILE}` }));
    return undefined;
  }
}

/** A marketplace that names what cannot be reached still brings the rest. */
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

/** Paths of this machine mean nothing to the next one: they are locked relative to the lock file. */
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
  throw new SkillcellError('store.changed', `Cannot read the skill: the cache has changed, got ${view.digest}.`);
}
