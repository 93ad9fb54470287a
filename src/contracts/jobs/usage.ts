/** Resource usage of a sandbox as counted by the kernel. Null: not counted. */
export interface SandboxUsage {
  cpuMs: number | null;
  maxRssBytes: number | null;
  /** Processes that the kernel killed because memory ran out. */
  oomKills: number | null;
  /** Forks that the kernel refused. */
  pidsRefused: number | null;
}

/** Usage without any count. */
export const NO_USAGE: SandboxUsage = { cpuMs: null, maxRssBytes: null, oomKills: null, pidsRefused: null };
