const MIB = 1024 * 1024;

/** What one fetch may cost, and what is kept. */
export interface GitLimits {
  /** Bytes of what is fetched, as git packs them. @default 256 MiB */
  bytes: number;
  /** Objects of what is fetched: commits, folders and files; and names in what is read, where one object may have many. @default 250,000 */
  objects: number;
  /** Milliseconds of one fetch, and of asking what there is. @default 120,000, of which 60,000 for asking */
  fetchMs: number;
  /** Bytes of all repositories that the cache keeps. What a living process reads stays, also where that is more. @default 1 GiB */
  keptBytes: number;
}

/** What a fetch may cost unless it is said. */
export const GIT_LIMITS: Readonly<GitLimits> = {
  bytes: 256 * MIB,
  objects: 250_000,
  fetchMs: 120_000,
  keptBytes: 1_024 * MIB,
};

/** Milliseconds of a command that fetches nothing. */
export const COMMAND_MS = 60_000;
/** Bytes of what a command may print: names of a commit's files, or of a repository's branches. */
export const OUTPUT_BYTES: number = 64 * MIB;
/** Address space of one process of git, so that a small pack of large objects ends it and not this machine. */
export const MEMORY_BYTES: number = 2_048 * MIB;
/** Larger files are never held in memory whole by git. */
export const STREAMED_MIB = 16;
