import type { Diagnostic } from '../contracts/errors/diagnostic.ts';

/** Which lines of a text are wanted. */
export interface LineRange {
  /** Lines to leave out at the beginning. @default 0 */
  offset?: number;
  /** Lines from there; at most 2,000. @default all that there are */
  limit?: number;
  signal?: AbortSignal;
}

/** A line that a search found. */
export interface GrepMatch {
  path: string;
  /** From 1. */
  line: number;
  text: string;
}

/** What a search found, and where it has not looked. */
export interface GrepResult {
  matches: GrepMatch[];
  /** Files that were not searched, and why. */
  skipped: { path: string; reason: string }[];
  /** Whether there is more than is given. */
  more: boolean;
}

/** Options of a call that waits. */
export interface BackendCall {
  signal?: AbortSignal;
}

/**
 * Files of a bucket as an agent sees them: `/skills`, which is only read, `/workspace` of its thread, and `/ticket`. Paths are taken as they
 * are written; `..` and the like are refused. All calls may throw `store.unavailable` and `store.key-invalid`.
 */
export interface S3Backend extends AsyncDisposable {
  /** What is in a folder, one level, as whole paths; `/` has the mounts. */
  ls(path: string, call?: BackendCall): Promise<string[]>;
  /** A text file. `.md` is added where there is none of the path as it is. @throws SkillcellError `file.unreadable` */
  read(path: string, range?: LineRange): Promise<string>;
  /** The same; `convert` makes a text of a PDF. @throws SkillcellError `file.unreadable` */
  readText(path: string, options?: LineRange & { convert?: boolean }): Promise<string>;
  /** @throws SkillcellError `file.unreadable` where there is none, or it is over 10 MiB */
  readBytes(path: string, call?: BackendCall): Promise<Uint8Array>;
  exists(path: string, call?: BackendCall): Promise<boolean>;
  /** @param options `create`: only where there is none yet. @throws SkillcellError `store.read-only`, `store.conflict`, `store.unsupported` */
  write(path: string, content: string | Uint8Array, options?: BackendCall & { create?: boolean }): Promise<void>;
  /** Replaces a text that stands in a file once, or each of them with `all`. @returns how many. @throws SkillcellError as `write`, and `file.unreadable` */
  edit(path: string, edit: { find: string; replace: string; all?: boolean }, call?: BackendCall): Promise<number>;
  /** Files of a folder whose path below it matches: `*` within a name, `**` for any names. @default below all mounts */
  glob(pattern: string, options?: BackendCall & { path?: string }): Promise<string[]>;
  /** Lines that hold a text, or match a pattern of RE2 with `regex`. */
  grep(text: string, options?: BackendCall & { path?: string; glob?: string; regex?: boolean }): Promise<GrepResult>;
  /** Paths of skills, `category/skill`. @param category one of them, or `all` */
  loadSkills(category?: string, call?: BackendCall): Promise<string[]>;
  /** The frontmatters of skills, one after the other, each with its path. */
  loadSkillsFrontmatter(category?: string, call?: BackendCall): Promise<string>;
  /** Paths and descriptions of skills, below their categories. */
  loadAllSkillsFormatted(category?: string, call?: BackendCall): Promise<string>;
  /** SKILL.md of a skill; undefined where there is none of this path that may be had. */
  loadSkillContent(path: string, call?: BackendCall): Promise<string | undefined>;
  /** Whether a model may load the skill by itself. */
  offersSkill(path: string, call?: BackendCall): Promise<boolean>;
  /** What was left out when skills were looked at last, and when each of the other mounts was listed last, and why. */
  readonly diagnostics: readonly Diagnostic[];
  close(): Promise<void>;
}
