import type { Diagnostic } from '../errors/diagnostic.ts';
import type { RootKind, SkillFile, SkillTree } from './skill.ts';

/** Options of every store call. */
export interface Call {
  signal?: AbortSignal | undefined;
}

/** Origin of a skill. It never holds a credential. */
export interface Origin {
  type: 'directory' | 'archive' | 'git' | 's3' | 'web' | 'mcp' | 'registry';
  /** A path, an address, a bucket with its prefix, or an owner of the registry. */
  source: string;
  /** Folder of the skill in the source, `.` for the whole. */
  folder: string;
  /** Git: the full id of the commit. */
  commit?: string;
  /** Git: the requested branch or tag. */
  ref?: string;
  /** Name of the plugin that contains it. */
  plugin?: string;
}

/** One skill in the list of a store. Items with equal revisions have equal bytes. */
export interface StoreItem {
  /** Path of the skill in the store, `.` if the store itself is the skill. */
  path: string;
  revision: string;
  origin: Origin;
  kind: RootKind;
}

/** The files that define a skill, without all of its bytes. */
export interface SkillHead {
  item: StoreItem;
  /** Files by their paths, in code-point order. */
  names: { path: string; bytes: number }[];
  /** SKILL.md, or another spelling of it. */
  skillFile: { path: string; bytes: Uint8Array };
  /** tools.yaml, if it exists. */
  tools?: Uint8Array;
  /**
   * True if the list of the store contains the frontmatter of its skills. The frontmatter then replaces SKILL.md, without a body and without
   * line numbers, and `tools` is absent. `open` compares it with SKILL.md.
   */
  listed?: boolean;
  /** The whole skill, from a store that has all bytes at hand: the digest is then known without `open`. */
  whole?: {
    files: SkillFile[];
    /** Bytes of text files by path; null for a file that is too large. */
    texts: ReadonlyMap<string, Uint8Array | null>;
  };
}

/** A skill at one revision, as an immutable folder. */
export interface SkillView {
  /** Digest of the skill, over its sorted files. */
  readonly digest: string;
  readonly files: readonly SkillFile[];
  /** Absolute path of the folder. */
  readonly folder: string;
}

/** A source of skills. */
export interface SkillStore {
  /** Identifies the store in messages and in the cache; never holds a credential. */
  readonly id: string;
  /** @throws SkillcellError `store.unavailable`: an outage is never an empty list */
  list(call?: Call): Promise<{ items: StoreItem[]; diagnostics: Diagnostic[] }>;
  /**
   * Fetches only SKILL.md, tools.yaml, names and sizes. Fetches no file if the list contains the frontmatter.
   *
   * @throws SkillcellError `store.unavailable`, with diagnostics if only this skill cannot be read; `store.changed`
   */
  head(item: StoreItem, call?: Call): Promise<SkillHead>;
  /** Fetches and hashes every byte. @throws SkillcellError as `head`; `store.changed` if it differs from the list */
  open(item: StoreItem, call?: Call): Promise<SkillView>;
  /** `ifRevision` null: it must not exist yet. @throws SkillcellError `store.conflict`, `store.read-only`, `store.key-invalid`, `store.unsupported` */
  put?(path: string, tree: SkillTree, call: Call & { ifRevision: string | null }): Promise<StoreItem>;
  /** @throws SkillcellError `store.conflict`, `store.read-only`, `store.key-invalid`, `store.unsupported` */
  delete?(path: string, call: Call & { ifRevision: string }): Promise<void>;
  /** Calls `hint` after a possible change. It may miss a change or call without one, so list the store again after each call. */
  watch?(hint: () => void): Disposable;
  close(): Promise<void>;
}
