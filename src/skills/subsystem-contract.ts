import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { LeftOut, TriggerSession } from '../contracts/skills/matching.ts';
import type {
  AgentsConfig,
  ReferenceRow,
  Skill,
  SkillTrees,
  SkillVariant,
  SourceRow,
} from '../contracts/skills/skill.ts';
import type { BudgetSteps, CatalogFormat } from './catalog/catalog-entry.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { WrittenCatalog } from './catalog/write-catalog.ts';

/** The consumer of skills and its rights. */
export interface ConsumerOptions {
  /** Id of the generator; without one only the rule of `"*"` applies. */
  consumer?: string | undefined;
  /** Whether internal skills may be asked for and are listed; default false. */
  includeInternal?: boolean | undefined;
  /** Ids of the offered tools. A skill that requires another tool is left out. Without this, no skill is left out for its tools. */
  tools?: readonly string[] | undefined;
}

/** The consumer, and the catalog that it was shown. */
export interface SelectionOptions extends ConsumerOptions {
  /** The snapshot that short ids mean. */
  catalog?: Catalog | undefined;
}

/** How skills are rendered. */
export interface RenderOptions extends SelectionOptions {
  /** Default: `full`. */
  variant?: SkillVariant | undefined;
  /** The turn's sources pool so far; it isn't changed. */
  pool?: readonly SourceRow[] | undefined;
}

/** A catalog to show. */
export interface GalleryOptions extends SelectionOptions {
  /** Default: `text`. */
  format?: CatalogFormat | undefined;
  /** Tokens of the whole text, a quarter of its UTF-8 bytes. */
  budget?: number | undefined;
  /** Order of the cuts for the budget. @default 'all' */
  budgetSteps?: BudgetSteps | undefined;
}

/** A catalog as it is shown. */
export interface Gallery extends WrittenCatalog {
  /** Full ids of the snapshot: the first is `SK1`. */
  ids: readonly string[];
  digest: string;
  /** Loaded skills that are not in the catalog, with the reasons. */
  leftOut: LeftOut[];
  diagnostics: Diagnostic[];
}

/** Requested skills with their imports. */
export interface Skillset {
  /** In load order. */
  skills: Skill[];
  rows: ReferenceRow[];
  diagnostics: Diagnostic[];
}

/** The `[ACTIVE SKILLS]` block of a request. */
export interface InstructionBlock {
  text: string;
  /** 64 hex digits over the UTF-8 bytes of `text`. */
  sha256: string;
  /** Full ids in load order. */
  active: string[];
  rows: ReferenceRow[];
  /** The sources pool after rendering. */
  pool: SourceRow[];
  /** For each skill, its own sids and those of the pool. */
  map: Record<string, Record<string, number>>;
  diagnostics: Diagnostic[];
}

/** One skill as a generator reads it. */
export interface SkillReading {
  row: ReferenceRow;
  /** The body ready for a prompt; empty unless the row says `loaded`. */
  text: string;
  pool: SourceRow[];
  map: Record<string, number>;
  diagnostics: Diagnostic[];
}

/** Consumer and options of a match. */
export interface MatchSelection extends ConsumerOptions {
  /** The most skills to name; default 3. */
  max?: number | undefined;
  /** Full ids of skills used before, the most recent first. */
  recent?: readonly string[] | undefined;
  /** The conversation that the query belongs to. It remembers which skills were used before. */
  session?: TriggerSession | undefined;
}

/** The parts of a subsystem. */
export interface SubsystemParts {
  /** Sorted by full id. */
  skills: Skill[];
  diagnostics: Diagnostic[];
  agentsConfig: AgentsConfig;
  overrides: string[];
  customNamespaces: string[];
  customSkillsRoot: string | null;
  bundleRoot: string | null;
  /** Bytes of skills that arrived from another process; without them bytes are read from disk. */
  trees?: SkillTrees;
  /** Whether skills were left out for want of approval. A skill that imports one of them then carries its diagnostic. */
  admitted?: boolean;
}
