import { posix } from 'node:path';
import { type Diagnostic, diagnostic } from '../contracts/errors/diagnostic.ts';
import type { RootKind } from '../contracts/skills/skill.ts';
import type { SkillHead, SkillStore, SkillView, StoreItem } from '../contracts/skills/store.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { eachAtOnce } from '../protocol/each-at-once.ts';
import { publishId } from '../skills/load/publish-id.ts';
import { readRegularFile } from '../skills/load/files/read-regular-file.ts';
import { type ParsedSkill, parseSkillMarkdown } from '../skills/parse/parse-skill.ts';
import type { Policy } from '../skills/select/policy.ts';
import { compareCodePoints } from '../skills/text/text.ts';

/** Heads that are requested at once. */
const AT_ONCE = 16;

/** A skill that this consumer may have, as of the last look. */
export interface ShelvedSkill {
  /** `category/skill`, which identifies it. */
  path: string;
  /** All of the path before its last name; empty if it has one name. */
  category: string;
  item: StoreItem;
  store: SkillStore;
  head: SkillHead;
  parsed: ParsedSkill;
}

/** The skills of a user and of a company, one for each path. */
export interface SkillShelf {
  /** Looks at the buckets again. @throws SkillcellError `store.unavailable` */
  look(signal?: AbortSignal): Promise<ReadonlyMap<string, ShelvedSkill>>;
  /** The skills of the last look; looks if there was none. */
  known(signal?: AbortSignal): Promise<ReadonlyMap<string, ShelvedSkill>>;
  /** All files of a skill, in the version of the last look; looks again if that version is gone. */
  open(skill: ShelvedSkill, signal?: AbortSignal): Promise<SkillView>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Puts the skills of stores together. @param stores by precedence: later ones add only skills that are missing */
export function shelveSkills(stores: readonly SkillStore[], policy: Policy): SkillShelf {
  let shelf: Map<string, ShelvedSkill> | undefined;
  let diagnostics: Diagnostic[] = [];
  const parsed = new Map<string, { revision: string; head: SkillHead; parsed: ParsedSkill }>();

  const look = async (signal?: AbortSignal): Promise<ReadonlyMap<string, ShelvedSkill>> => {
    const found = new Map<string, ShelvedSkill>();
    const said: Diagnostic[] = [];
    for (const store of stores) {
      const { items, diagnostics: listed } = await store.list({ signal });
      said.push(...listed);
      const read = await eachAtOnce(items, AT_ONCE, async (item) => await headOf(store, item, signal));
      for (const [index, item] of items.entries()) {
        const known = read[index];
        const allowed = known === undefined ? undefined : judge(item, known.parsed, said);
        if (known === undefined || allowed === undefined || !policy.allows(allowed)) continue;
        const { path } = item;
        const first = found.get(path);
        if (first !== undefined) {
          const message = `A skill of the ${item.kind} is left out, since the ${first.item.kind} has one of that path.`;
          said.push(diagnostic('skill.shadowed', message, { path }));
          continue;
        }
        const category = posix.dirname(path);
        found.set(path, { path, category: category === '.' ? '' : category, item, store, ...known });
      }
    }
    shelf = new Map([...found].toSorted(([a], [b]) => compareCodePoints(a, b)));
    diagnostics = said;
    return shelf;
  };

  /** Undefined if the skill vanished while its list was read. */
  const headOf = async (
    store: SkillStore,
    item: StoreItem,
    signal: AbortSignal | undefined,
  ): Promise<{ head: SkillHead; parsed: ParsedSkill } | undefined> => {
    const name = `${store.id}\0${item.path}`;
    const before = parsed.get(name);
    if (before?.revision === item.revision) return before;
    try {
      const head = await store.head(item, { signal });
      const { path, bytes } = head.skillFile;
      const options = { folder: posix.basename(item.path), path: `${item.path}/${path}`, tryPatterns: false };
      const known = { revision: item.revision, head, parsed: parseSkillMarkdown(bytes, options) };
      parsed.set(name, known);
      return known;
    } catch (error) {
      if (SkillcellError.isInstance(error) && error.code === 'store.changed') return undefined;
      throw error;
    }
  };

  return {
    look,
    known: async (signal) => shelf ?? look(signal),
    async open(skill, signal) {
      try {
        return await skill.store.open(skill.item, { signal });
      } catch (error) {
        if (!SkillcellError.isInstance(error) || error.code !== 'store.changed') throw error;
        const now = (await look(signal)).get(skill.path);
        if (now === undefined) throw error;
        return now.store.open(now.item, { signal });
      }
    },
    get diagnostics() {
      return diagnostics;
    },
  };
}

/** The full id of a skill for policies; undefined if it has none, with the reasons in `said`. */
function judge(item: StoreItem, parsed: ParsedSkill, said: Diagnostic[]): string | undefined {
  said.push(...parsed.diagnostics);
  if (!parsed.loaded) return undefined;
  const { published, diagnostics } = publishId({
    rootKind: item.kind satisfies RootKind,
    folder: posix.basename(item.path),
    dir: item.path,
    namespace: parsed.fields.namespace,
    overrides: new Set(),
    customNamespaces: new Set(),
    place: { path: item.path },
    namespacePlace: {},
  });
  said.push(...diagnostics);
  return published?.id;
}

/** The bytes of a file of a view; undefined if it is not listed, or has changed. */
export function viewedBytes(view: SkillView, path: string): Uint8Array | undefined {
  const listed = view.files.find((file) => file.path === path);
  if (listed === undefined) return undefined;
  const { content, digest } = readRegularFile(`${view.folder}/${path}`, { keep: listed.bytes, limit: listed.bytes });
  return digest === listed.digest ? content : undefined;
}
