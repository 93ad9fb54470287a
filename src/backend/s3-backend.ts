import type { Diagnostic } from '../contracts/errors/diagnostic.ts';

/** A range of lines of a text. */
export interface LineRange {
  /** Lines to leave out at the beginning. @default 0 */
  offset?: number;
  /** Lines from there; at most 2,000. @default all lines */
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

/** The lines that a search found, and the files that it did not search. */
export interface GrepResult {
  matches: GrepMatch[];
  /** Files that were not searched, and why. */
  skipped: { path: string; reason: string }[];
  /** Whether there are more matches. */
  more: boolean;
}

/** Options of an asynchronous call. */
export interface BackendCall {
  signal?: AbortSignal;
}

/**
 * Files of a bucket for an agent: `/skills`, which is read-only, `/workspace` of its thread, and `/ticket`. Paths are not normalised; `..` and
 * the like are refused. All calls may throw `store.unavailable` and `store.key-invalid`.
 */
export interface S3Backend extends AsyncDisposable {
  /** Lists one level of a folder, as whole paths; `/` lists the mounts. */
  ls(path: string, call?: BackendCall): Promise<string[]>;
  /** Reads a text file. `.md` is appended if there is no file at the path itself. @throws SkillcellError `file.unreadable` */
  read(path: string, range?: LineRange): Promise<string>;
  /** The same; `convert` extracts the text of a PDF. @throws SkillcellError `file.unreadable` */
  readText(path: string, options?: LineRange & { convert?: boolean }): Promise<string>;
  /** @throws SkillcellError `file.unreadable` if there is no file, or it is over 10 MiB */
  readBytes(path: string, call?: BackendCall): Promise<Uint8Array>;
  exists(path: string, call?: BackendCall): Promise<boolean>;
  /** @param options `create`: only if there is no file yet. @throws SkillcellError `store.read-only`, `store.conflict`, `store.unsupported` */
  write(path: string, content: string | Uint8Array, options?: BackendCall & { create?: boolean }): Promise<void>;
  /** Replaces a text that a file holds once, or each occurrence with `all`. @returns the number of replacements. @throws SkillcellError as `write`, and `file.unreadable` */
  edit(path: string, edit: { find: string; replace: string; all?: boolean }, call?: BackendCall): Promise<number>;
  /** Files of a folder whose path below it matches: `*` within a name, `**` for any names. @default below all mounts */
  glob(pattern: string, options?: BackendCall & { path?: string }): Promise<string[]>;
  /** Lines that hold a text, or match a pattern of RE2 with `regex`. */
  grep(text: string, options?: BackendCall & { path?: string; glob?: string; regex?: boolean }): Promise<GrepResult>;
  /** Paths of skills, `category/skill`. @param category a category, or `all` */
  loadSkills(category?: string, call?: BackendCall): Promise<string[]>;
  /** The frontmatters of skills, one after the other, each with its path. */
  loadSkillsFrontmatter(category?: string, call?: BackendCall): Promise<string>;
  /** Paths and descriptions of skills, below their categories. */
  loadAllSkillsFormatted(category?: string, call?: BackendCall): Promise<string>;
  /** SKILL.md of a skill; undefined if no skill that the consumer may have is at this path. */
  loadSkillContent(path: string, call?: BackendCall): Promise<string | undefined>;
  /** Whether a model may load the skill by itself. */
  offersSkill(path: string, call?: BackendCall): Promise<boolean>;
  /** Diagnostics of the last look at skills, and of the last listing of each other mount. */
  readonly diagnostics: readonly Diagnostic[];
  close(): Promise<void>;
}
