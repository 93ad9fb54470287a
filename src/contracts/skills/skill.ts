import type { Diagnostic } from '../errors/diagnostic.ts';

/** The three namespaces of a skill. */
export type Namespace = 'public' | 'internal' | 'custom';

/** Where a root comes from; precedence is builtin < company < user < project < custom. */
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

/** What the frontmatter of a SKILL.md sets; a field that is absent, empty or only a default is not there. */
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
  /** True: in no catalog and no match; only an explicit reference or an import loads it. */
  disableModelInvocation?: boolean;
  /** False: meant for models, not to be offered to people. */
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

/** One regular file of a skill, as the manifest made at load knows it. */
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
  /** One of the three, or one that the descriptor's `custom_namespaces` lists. */
  namespace: string;
  skillId: string;
  /** Display name on one line. */
  name: string;
  rootKind: RootKind;
  /** Index of the root in the list that was loaded. */
  root: number;
  /** Absolute path of the root; empty when the skill was rebuilt from bytes. */
  rootPath: string;
  /** Path of the skill folder below its root, `.` for the root itself. */
  dir: string;
  /** Absolute path of the folder with its files, where it lies apart from its root: what a store has given is kept by digest. */
  folder?: string;
  /** It comes from a store that a caller of a library made, and not from a folder that the options name; its code is never trusted. */
  ofStore?: true;
  fields: SkillFields;
  /** Unknown keys, and known keys of an unusable shape. */
  extra: Record<string, unknown>;
  /** Everything after the closing fence of SKILL.md. */
  body: string;
  /** Text of compact.md, if there is one. */
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

/** Per-consumer policy; the consumer `*` applies to every consumer, its `disabled` only. */
export type AgentsConfig = Record<string, { enabled?: string[]; disabled?: string[] }>;

/** What became of one reference of a request. */
export interface ReferenceRow {
  ref: string;
  /** Full id; absent for `unknown`. */
  id?: string;
  status: 'loaded' | 'unknown' | 'denied' | 'duplicate';
  /** One line for people. */
  reason?: string;
}

/** The bytes of one skill folder on their way to another process. Keys are paths below the folder. */
export type SkillTree = Map<string, { bytes: Uint8Array; executable: boolean }>;

/** Skill trees by full id. */
export type SkillTrees = Map<string, SkillTree>;

/** Which body of a skill is rendered. */
export type SkillVariant = 'full' | 'compact';
