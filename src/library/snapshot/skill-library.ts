import type { SkillExplanation } from '../../authoring/explain-skill.ts';
import type { SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { RootKind, Skill, SkillFields } from '../../contracts/skills/skill.ts';
import type { Call, Origin, SkillStore } from '../../contracts/skills/store.ts';
import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import type { ConsumerOptions } from '../../skills/subsystem-contract.ts';
import type { StoreState } from '../heads/look-at-store.ts';
import type { SearchSkillsOptions, SkillSearch } from '../search/search-skills.ts';

/** Returns the reason why a skill may not be loaded; undefined if it may. The digest of the skill is known. */
export type Admit = (skill: Skill, origin?: Origin) => Diagnostic | undefined;

/** Stores that are not read at all, and the reasons. */
export interface GateVerdict {
  /** Stores from which nothing is loaded, each with its reason. */
  closed: ReadonlyMap<SkillStore, Diagnostic>;
  /** Further diagnostics. */
  diagnostics: readonly Diagnostic[];
}

/** Options of `openSkillLibrary`. */
export interface SkillLibraryOptions {
  /** Stores of skills. Precedence goes by the kind of each skill; within a kind, the later store wins. `close()` closes them. */
  stores: readonly SkillStore[];
  /** Adds the descriptor's custom root, policy and overrides. */
  descriptor?: SkillsDescriptor | undefined;
  /** Absolute path that relative roots of the descriptor resolve against. */
  bundleRoot?: string | undefined;
  /** Absolute path of the built-in skills. Looks for changes include it, and the descriptor's folder. @default none */
  builtinRoot?: string | null | undefined;
  /** Folder for fetched data; processes share it. @default `$XDG_CACHE_HOME/skillcell` or `~/.cache/skillcell` */
  cacheDir?: string | undefined;
  /** Behavior when a store is out of reach: the call fails, or the last good list is used and a diagnostic tells its age. @default 'refuse' */
  stale?: 'refuse' | 'use' | undefined;
  /** Absolute path of the lock file that `frozen` and `explain()` read. @default skillcell.lock.json in the working folder */
  lockFile?: string | undefined;
  /** Loads only skills whose bytes are locked and approved, from stores and roots alike. @default false */
  frozen?: boolean | undefined;
  /** Decides which skills of the stores may be loaded. */
  admit?: Admit | undefined;
  /** Decides which stores are used, by their whole content. Called after each change. */
  gate?: ((states: readonly StoreState[]) => GateVerdict) | undefined;
  /** Milliseconds between two looks while there are subscriptions; 0 looks only after hints of the stores. @default 30,000 ms */
  lookIntervalMs?: number | undefined;
}

/** The consumer of a library. */
export interface LibraryConsumer extends Call {
  /** Id of the generator; without it, only the rule of `"*"` applies. */
  consumer?: string | undefined;
  /** Whether internal skills are listed, and may be requested. @default false */
  includeInternal?: boolean | undefined;
}

/** Information about a skill that needs no complete fetch. */
export interface LibraryHead {
  id: string;
  name: string;
  brief: string;
  fields: SkillFields;
  kind: RootKind;
  /** Tokens of the body: a quarter of its UTF-8 bytes. The bytes are estimated where only the frontmatter was listed. */
  tokens: number;
  /** Absent where it would need every byte of a skill that was never fetched. */
  digest?: string;
  files: readonly { path: string; bytes: number }[];
  /** Absent for skills that are not from a store. */
  origin?: Origin;
  revision?: string;
}

/** A request to a library. */
export interface LibraryRequest extends LibraryConsumer {
  /**
   * Skills to fetch completely, with their imports. All others have only their head, for catalogs and matches. Without `refs`, all skills are
   * fetched that the consumer may load.
   */
  refs?: readonly string[] | undefined;
  /** Without `refs`: references whose ranges choose the versions of skills, such as `custom.units@^1.2`. */
  versionsFor?: readonly string[] | undefined;
  /**
   * False: skills of folders are read in place, like those of a root; the digest check refuses a file that has changed since. Skills of other
   * stores are fetched all the same. @default true
   */
  copy?: boolean | undefined;
}

/** Skills from all kinds of stores. Every result is a snapshot, which never changes. */
export interface SkillLibrary extends AsyncDisposable {
  /**
   * The skills that a consumer may see, as their heads describe them.
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
   * Searches the heads of skills for words.
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
   * Explains why a consumer does or does not get a skill: its origin, its approval in the lock file, and other versions beside it.
   *
   * @throws SkillcellError `store.unavailable`; `skills.version-unmet` for an unmet range; `lock.invalid`
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
   * The skills as a subsystem. It is synchronous: all its data has been fetched when the promise resolves.
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
   * Looks at every store. During the look, calls get the earlier snapshot; afterwards, the new one.
   *
   * @returns whether anything has changed
   * @throws SkillcellError `store.unavailable` where a store is out of reach and `stale` is `refuse`; the earlier snapshot stays
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
   * All diagnostics of the last look.
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
   * Calls the listener after each change. While there are subscriptions, the library looks by itself: after hints of a store, and at intervals.
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
   * Ends all looks, and closes the stores.
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
