import type { Diagnostic } from '../errors/diagnostic.ts';
import type { RootKind, SkillFile, SkillTree } from './skill.ts';

/** What every call of a store takes. */
export interface Call {
  signal?: AbortSignal | undefined;
}

/** Where a skill comes from. No part of it holds a credential. */
export interface Origin {
  type: 'directory' | 'archive' | 'git' | 's3' | 'web' | 'mcp';
  /** A path, an address, or a bucket with its prefix. */
  source: string;
  /** Folder of the skill in the source, `.` for the whole. */
  folder: string;
  /** Of git: the full id of the commit. */
  commit?: string;
  /** Of git: the branch or tag that was asked for. */
  ref?: string;
  /** Name of the plugin that brings it. */
  plugin?: string;
}

/** One skill of a store, as its list has it. Two with an equal revision have equal bytes. */
export interface StoreItem {
  /** Path of the skill in the store, `.` for one that is the store itself. */
  path: string;
  revision: string;
  origin: Origin;
  kind: RootKind;
}

/** What tells what a skill is, without all of its bytes. */
export interface SkillHead {
  item: StoreItem;
  /** Files by their paths, in code-point order. */
  names: { path: string; bytes: number }[];
  /** SKILL.md, or another spelling of it. */
  skillFile: { path: string; bytes: Uint8Array };
  /** tools.yaml, where there is one. */
  tools?: Uint8Array;
  /**
   * Of a store whose list has the frontmatter of its skills: it stands in the place of SKILL.md, without a body and without places in a file, and
   * `tools` is absent. `open` compares it with SKILL.md.
   */
  listed?: boolean;
  /** Of a store that has every byte at hand: all of the skill, so that nothing has to be opened to know its digest. */
  whole?: {
    files: SkillFile[];
    /** Bytes of the files that are read as text, by path; null for one that is too large for that. */
    texts: ReadonlyMap<string, Uint8Array | null>;
  };
}

/** A skill as it was at one revision: a folder that nobody changes any more. */
export interface SkillView {
  /** Digest of the skill, over its sorted files. */
  readonly digest: string;
  readonly files: readonly SkillFile[];
  /** Absolute path of the folder. */
  readonly folder: string;
}

/** Where skills come from. */
export interface SkillStore {
  /** Names it in messages and in the cache; never holds a credential. */
  readonly id: string;
  /** @throws SkillcellError `store.unavailable`: an outage is never an empty list */
  list(call?: Call): Promise<{ items: StoreItem[]; diagnostics: Diagnostic[] }>;
  /**
   * Fetches no more than SKILL.md, tools.yaml, names and sizes, and no file where the list has the frontmatter.
   *
   * @throws SkillcellError `store.unavailable`; with diagnostics where only this skill cannot be read; `store.changed`
   */
  head(item: StoreItem, call?: Call): Promise<SkillHead>;
  /** Fetches and hashes every byte. @throws SkillcellError as `head`; `store.changed` where it is no longer what was listed */
  open(item: StoreItem, call?: Call): Promise<SkillView>;
  /** `ifRevision` null: there must be none yet. @throws SkillcellError `store.conflict`, `store.read-only`, `store.key-invalid`, `store.unsupported` */
  put?(path: string, tree: SkillTree, call: Call & { ifRevision: string | null }): Promise<StoreItem>;
  /** @throws SkillcellError `store.conflict`, `store.read-only`, `store.key-invalid`, `store.unsupported` */
  delete?(path: string, call: Call & { ifRevision: string }): Promise<void>;
  /** Calls when something may have changed. It may miss a change, and may call without one: whoever hears it lists again. */
  watch?(hint: () => void): Disposable;
  close(): Promise<void>;
}
