/** A name that a file of a skill exports. */
export interface ExportReference {
  /** Path of the file below the skill's folder. */
  path: string;
  name: string;
}

/** What of a skill is loaded as code, by a driver in a sandbox (`runtime/languages/`) or on the host. */
export interface SkillCodeSpec {
  /** Full id. */
  skill: string;
  job: string;
  toolsets: ExportReference[];
  provider?: ExportReference;
  /** Tools that the provider is asked for; none for all that it supports. */
  tools: { name: string; provider?: string; config: Record<string, unknown> }[];
  /** More are refused, and need not be described. */
  mostTools: number;
  /** Modules that have to be there before anything is loaded. */
  dependencies: string[];
}
