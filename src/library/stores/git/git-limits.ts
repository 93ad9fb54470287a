const MIB = 1024 * 1024;

/** Limits of one fetch, and of the kept repositories. */
export interface GitLimits {
  /** Bytes of one fetch, as git packs them. @default 256 MiB */
  bytes: number;
  /** Objects of one fetch (commits, folders, files), and names in a listing, where one object may have many. @default 250,000 */
  objects: number;
  /** Milliseconds of one fetch, and of a query for refs. @default 120,000; a query takes at most 60,000 */
  fetchMs: number;
  /** Bytes of all repositories in the cache. Repositories that a living process reads stay, even over this limit. @default 1 GiB */
  keptBytes: number;
}

/** The default limits. */
export const GIT_LIMITS: Readonly<GitLimits> = {
  bytes: 256 * MIB,
  objects: 250_000,
  fetchMs: 120_000,
  keptBytes: 1_024 * MIB,
};

/** Milliseconds of a command that fetches nothing. */
export const COMMAND_MS = 60_000;
/** Bytes of a command's output: names of a commit's files, or of a repository's branches. */
export const OUTPUT_BYTES: number = 64 * MIB;
/** Address space of one git process. A small pack of large objects then ends git, not this machine. */
export const MEMORY_BYTES: number = 2_048 * MIB;
/** Git streams larger files and never holds them in memory. */
export const STREAMED_MIB = 16;
