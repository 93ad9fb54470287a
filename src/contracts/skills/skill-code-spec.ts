/** A name that a file of a skill exports. */
export interface ExportReference {
  /** Path of the file below the skill's folder. */
  path: string;
  name: string;
}

/** The code of a skill that a driver loads in a sandbox (`runtime/languages/`) or on the host. */
export interface SkillCodeSpec {
  /** Full id. */
  skill: string;
  job: string;
  toolsets: ExportReference[];
  provider?: ExportReference;
  /** Tools to request from the provider; empty: all supported tools. */
  tools: { name: string; provider?: string; config: Record<string, unknown> }[];
  /** Most tools; more are refused without a description. */
  mostTools: number;
  /** Modules that must exist before any code is loaded. */
  dependencies: string[];
}
