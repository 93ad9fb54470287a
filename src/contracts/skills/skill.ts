import type { Diagnostic } from '../errors/diagnostic.ts';

/** The namespaces that need no entry in `custom_namespaces`. */
export type Namespace = 'public' | 'internal' | 'custom';

/** Origin of a root; precedence is builtin < company < user < project < custom. */
export type RootKind = 'builtin' | 'company' | 'user' | 'project' | 'custom';

/** A folder that holds skills. `trusted` counts for `project` roots only. */
export interface SkillRoot {
  kind: RootKind;
  /** Absolute path of the folder. */
  path: string;
  trusted?: boolean;
}

/** Trigger words and patterns of a skill, as written. */
export interface SkillTriggers {
  keywords?: string[];
  verbs?: string[];
  patterns?: string[];
}

/** Frontmatter fields of a SKILL.md; a field that is absent, empty or only a default is left out. */
export interface SkillFields {
  name?: string;
  description?: string;
  version?: string;
  category?: string;
  tags?: string[];
  author?: string;
  created?: string;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, unknown>;
  displayName?: string;
  namespace?: string;
  whenToUse?: string[];
  imports?: string[];
  allowedTools?: string[];
  triggers?: SkillTriggers;
  toolsets?: string[];
  scripts?: string[];
  defaultEnabled?: boolean;
  /** True: never in a catalog or a match; only an explicit reference or an import loads it. */
  disableModelInvocation?: boolean;
  /** False: only for models, not offered to people. */
  userInvocable?: boolean;
  briefDescription?: string;
  bindShells?: string[];
  provider?: { module?: string; class?: string };
  tools?: unknown[];
  dependencies?: string[];
}

/** A row of `tools.yaml`. */
export interface ToolRow {
  id: string;
  role?: string;
  why?: string;
  required?: boolean;
}

/** A row of `sources.yaml` or of a turn's sources pool. Unknown optional fields are dropped when a file is read. */
export interface SourceRow {
  sid?: number;
  url?: string;
  physical_path?: string;
  title?: string;
  text?: string;
  [field: string]: unknown;
}

/** One regular file of a skill, from the manifest made at load. */
export interface SkillFile {
  /** Path below the skill folder, `/` between folders. */
  path: string;
  /** `sha256:<64 hex>` of the bytes. */
  digest: string;
  bytes: number;
  executable: boolean;
}

/** A loaded skill. */
export interface Skill {
  /** Full id, `<namespace>.<skill id>`. */
  id: string;
  /** `public`, `internal`, `custom`, or a namespace in the descriptor's `custom_namespaces`. */
  namespace: string;
  skillId: string;
  /** Display name on one line. */
  name: string;
  rootKind: RootKind;
  /** Index of the root in the list that was loaded. */
  root: number;
  /** Absolute path of the root; for a skill of a store the id of the store; empty when the skill was rebuilt from bytes. */
  rootPath: string;
  /** Path of the skill folder below its root, `.` for the root itself. */
  dir: string;
  /** Absolute path of the folder with its files if it lies outside the root: skills of a store are kept by digest. */
  folder?: string;
  /** True: the skill comes from a store that the caller created, not from a folder in the options; its code is never trusted. */
  ofStore?: true;
  fields: SkillFields;
  /** Unknown keys, and known keys of an unusable shape. */
  extra: Record<string, unknown>;
  /** Everything after the closing fence of SKILL.md. */
  body: string;
  /** Text of compact.md, if it exists. */
  compact?: string;
  /** `brief_description`, else the first sentence of the description. */
  brief: string;
  tools: ToolRow[];
  sources: SourceRow[];
  /** Sorted by path in code-point order. */
  files: SkillFile[];
  /** `sha256:<64 hex>` over the sorted manifest lines. */
  digest: string;
  diagnostics: Diagnostic[];
}

/** Policy per consumer. The `disabled` of the consumer `*` applies to every consumer; its `enabled` has no effect. */
export type AgentsConfig = Record<string, { enabled?: string[]; disabled?: string[] }>;

/** Outcome of one reference of a request. */
export interface ReferenceRow {
  ref: string;
  /** Full id; absent for `unknown`. */
  id?: string;
  status: 'loaded' | 'unknown' | 'denied' | 'duplicate';
  /** One line for people. */
  reason?: string;
}

/** The files of one skill folder, for transfer to another process. Keys are paths below the folder. */
export type SkillTree = Map<string, { bytes: Uint8Array; executable: boolean }>;

/** Skill trees by full id. */
export type SkillTrees = Map<string, SkillTree>;

/** The rendered body of a skill. */
export type SkillVariant = 'full' | 'compact';
