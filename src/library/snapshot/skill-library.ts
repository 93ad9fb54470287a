import type { SkillExplanation } from '../../authoring/explain-skill.ts';
import type { SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { RootKind, Skill, SkillFields } from '../../contracts/skills/skill.ts';
import type { Call, Origin, SkillStore } from '../../contracts/skills/store.ts';
import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import type { ConsumerOptions } from '../../skills/subsystem-contract.ts';
import type { StoreState } from '../heads/look-at-store.ts';
import type { SearchSkillsOptions, SkillSearch } from '../search/search-skills.ts';

/** Says why a skill may not be loaded; undefined where it may. Its digest is known. */
export type Admit = (skill: Skill, origin?: Origin) => Diagnostic | undefined;

/** What is not read at all, and why. */
export interface GateVerdict {
  /** Stores of which nothing is loaded, with what is said of each. */
  closed: ReadonlyMap<SkillStore, Diagnostic>;
  /** What is said beside that. */
  diagnostics: readonly Diagnostic[];
}

/** Options of `openSkillLibrary`. */
export interface SkillLibraryOptions {
  /** Where skills come from; precedence goes by the kind of each skill, and of one kind the later store wins. `close()` closes them. */
  stores: readonly SkillStore[];
  /** Adds its custom root, its policy and its overrides. */
  descriptor?: SkillsDescriptor | undefined;
  /** Absolute path that relative roots of the descriptor resolve against. */
  bundleRoot?: string | undefined;
  /** Absolute path of the built-in skills, looked at as a store is, and so is the descriptor's folder. @default none */
  builtinRoot?: string | null | undefined;
  /** Where what was fetched is kept; processes share it. @default `$XDG_CACHE_HOME/skillcell` or `~/.cache/skillcell` */
  cacheDir?: string | undefined;
  /** What happens when a store is out of reach: the call is refused, or the last good list serves, and says how old it is. @default 'refuse' */
  stale?: 'refuse' | 'use' | undefined;
  /** Absolute path of the lock file that `frozen` and `explain()` read. @default skillcell.lock.json in the working folder */
  lockFile?: string | undefined;
  /** Loads only skills whose bytes are locked and approved, from stores and roots alike. @default false */
  frozen?: boolean | undefined;
  /** Decides what of the stores is loaded at all. */
  admit?: Admit | undefined;
  /** Decides which stores count, by all that they hold. Asked after each change. */
  gate?: ((states: readonly StoreState[]) => GateVerdict) | undefined;
  /** Milliseconds between two looks while somebody has subscribed; 0 for none but those by hints of the stores. @default 30,000 ms */
  lookIntervalMs?: number | undefined;
}

/** Who asks a library. */
export interface LibraryConsumer extends Call {
  /** Id of the generator; without one only the rule of `"*"` applies. */
  consumer?: string | undefined;
  /** Whether internal skills are listed, and may be asked for. @default false */
  includeInternal?: boolean | undefined;
}

/** What a library tells of a skill without fetching it. */
export interface LibraryHead {
  id: string;
  name: string;
  brief: string;
  fields: SkillFields;
  kind: RootKind;
  /** Tokens of the body: a quarter of its UTF-8 bytes, which are estimated where only its frontmatter was listed. */
  tokens: number;
  /** Absent where that takes every byte of it, and it was never fetched. */
  digest?: string;
  files: readonly { path: string; bytes: number }[];
  /** Where it comes from. */
  origin?: Origin;
  revision?: string;
}

/** What a library is asked for. */
export interface LibraryRequest extends LibraryConsumer {
  /**
   * Skills that are fetched whole, with what they import; of all others the head is there, for catalogs and matches. Without it all are fetched
   * that the consumer may load.
   */
  refs?: readonly string[] | undefined;
  /** Without `refs`: references whose ranges decide which version of a skill is there, such as `custom.units@^1.2`. */
  versionsFor?: readonly string[] | undefined;
  /**
   * False: skills of folders stay where they are and are read from there, as those of a root are; a file that has changed since is refused by its
   * digest. Skills of other stores are fetched all the same. @default true
   */
  copy?: boolean | undefined;
}

/** Skills from anywhere, behind one face. What it gives is a snapshot: nothing changes it any more. */
export interface SkillLibrary extends AsyncDisposable {
  /**
   * The skills that a consumer may see, as far as their heads tell.
   *
   * @throws SkillcellError `store.unavailable` where a store is out of reach and `stale` is `refuse`
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * for (const { id, tokens, origin } of await library.heads()) console.log(id, tokens, origin?.folder);
   * // prints: custom.units 4 units
   * ```
   */
  heads(options?: LibraryConsumer): Promise<LibraryHead[]>;
  /**
   * Finds skills by words, by their heads.
   *
   * @throws SkillcellError `store.unavailable`, `search.unavailable`, `options.invalid`
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * const { hits } = await library.search('which unit does a report need?');
   * console.log(hits.map(({ id }) => id));
   * // prints: [ 'custom.units' ]
   * ```
   */
  search(text: string, options?: Omit<SearchSkillsOptions, 'cacheFolder'>): Promise<SkillSearch>;
  /**
   * Explains why a consumer has a skill, or has it not, where it comes from, who has approved it by the lock file, and which other versions lie
   * beside it.
   *
   * @throws SkillcellError `store.unavailable`; `skills.version-unmet` for a range that nothing meets; `lock.invalid`
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * const { status, skill } = await library.explain('custom.units', { consumer: 'solver.codegen' });
   * console.log(status, skill?.origin.from?.type, skill?.origin.folder);
   * // prints: loaded directory units
   * ```
   */
  explain(ref: string, options?: ConsumerOptions & Call): Promise<SkillExplanation>;
  /**
   * The skills as a subsystem, which is synchronous: what it is to give has been fetched when this resolves.
   *
   * @throws SkillcellError `store.unavailable`
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * const skills = await library.subsystem({ consumer: 'solver.codegen', refs: ['custom.units'] });
   * console.log(skills.loadSkill('custom.units').text);
   * // prints: Give SI units.
   * ```
   */
  subsystem(options?: LibraryRequest): Promise<SkillsSubsystem>;
  /**
   * Looks at every store. Whoever asks meanwhile gets the earlier snapshot, and afterwards the new one.
   *
   * @returns whether anything has changed
   * @throws SkillcellError `store.unavailable` where a store is out of reach and `stale` is `refuse`; the snapshot stays
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * const before = await library.subsystem();
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units.\n---\nGive US units.\n');
   * console.log(await library.refresh(), before.loadSkill('custom.units').text);
   * // prints: true Give SI units.
   * ```
   */
  refresh(options?: Call): Promise<boolean>;
  /**
   * Everything that was found while looking.
   *
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * mkdirSync('skills/empty');
   * writeFileSync('skills/empty/SKILL.md', '---\nname: empty\n---\nNothing.\n');
   * await library.refresh();
   * for (const { code, path } of library.diagnostics()) console.log(code, path);
   * // prints: skill.description-missing empty/SKILL.md
   * ```
   */
  diagnostics(): readonly Diagnostic[];
  /**
   * Calls after each change. While somebody has subscribed the library looks by itself: when a store hints at a change, and now and then.
   *
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * using _subscription = library.subscribe(() => console.log('changed'));
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units.\n---\nGive US units.\n');
   * await library.refresh();
   * // prints: changed
   * ```
   */
  subscribe(listener: () => void): Disposable;
  /**
   * Ends the looking, and closes the stores.
   *
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
   *
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
   * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
   * await library.close();
   * await library.heads().catch(({ code }) => console.log(code));
   * // prints: store.unavailable
   * ```
   */
  close(): Promise<void>;
}
