/** The kernel's account of a sandbox. Null where nothing counts it. */
export interface SandboxUsage {
  cpuMs: number | null;
  maxRssBytes: number | null;
  /** Processes that the kernel ended for want of memory. */
  oomKills: number | null;
  /** Forks that the kernel refused. */
  pidsRefused: number | null;
}

/** Nothing is known. */
export const NO_USAGE: SandboxUsage = { cpuMs: null, maxRssBytes: null, oomKills: null, pidsRefused: null };
