import type { FullDescriptor } from '../contracts/descriptor.ts';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import type {
  AgentsConfig,
  ReferenceRow,
  Skill,
  SkillTree,
  SkillTrees,
  SkillVariant,
  SourceRow,
} from '../contracts/skill.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { catalogEntries, type CatalogFormat } from './catalog-entry.ts';
import { takeCatalog, type Catalog } from './catalog.ts';
import { deepFreeze } from './deep-freeze.ts';
import { digestOf } from './digest.ts';
import { expandImports } from './expand-imports.ts';
import { makeDescriptor, makePortableDescriptor } from './make-descriptor.ts';
import { policyFor, type Policy } from './policy.ts';
import { readSkillFile, type ReadRange, type SkillFileContent } from './read-skill-file.ts';
import { reachableIds } from './reachable-ids.ts';
import { activeSkillsBlock, renderSkills } from './render-skills.ts';
import { refusalOf, resolveReferences, type ResolveScope } from './resolve-references.ts';
import { readSkillTree } from './skill-bytes.ts';
import { matchSkills, type MatchResult } from './triggers.ts';
import { writeCatalog, type WrittenCatalog } from './write-catalog.ts';

/** Who asks. */
export interface ConsumerOptions {
  /** Id of the generator; without one only the rule of `"*"` applies. */
  consumer?: string | undefined;
  /** Whether internal skills may be asked for and are listed; default false. */
  includeInternal?: boolean | undefined;
}

/** Who asks, and what was shown before. */
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
}

/** A catalog as it is shown. */
export interface Gallery extends WrittenCatalog {
  /** Full ids of the snapshot: the first is `SK1`. */
  ids: readonly string[];
  digest: string;
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
  /** The sources pool afterwards. */
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

/** Who asks for a match. */
export interface MatchSelection extends ConsumerOptions {
  /** The most skills to name; default 3. */
  max?: number | undefined;
  /** Full ids of skills used before, the most recent first. */
  recent?: readonly string[] | undefined;
}

/** What a subsystem is made of. */
export interface SubsystemParts {
  /** Sorted by full id. */
  skills: Skill[];
  diagnostics: Diagnostic[];
  agentsConfig: AgentsConfig;
  overrides: string[];
  customSkillsRoot: string | null;
  bundleRoot: string | null;
  /** Bytes of skills that arrived from another process; without them bytes are read from disk. */
  trees?: SkillTrees;
}

/** The skills of one turn: selects, resolves and renders. Immutable; it holds plain data and nothing to close. */
export class SkillsSubsystem {
  /** Every loaded skill, sorted by full id in code-point order. */
  readonly skills: readonly Skill[];
  /** Everything that was found while loading. */
  readonly diagnostics: readonly Diagnostic[];
  readonly agentsConfig: AgentsConfig;
  /** Full ids that roots other than the built-in one may publish as they claim. */
  readonly overrides: readonly string[];
  readonly customSkillsRoot: string | null;
  readonly bundleRoot: string | null;
  readonly #byId: ReadonlyMap<string, Skill>;
  readonly #trees: SkillTrees | undefined;
  readonly #policies = new Map<string | undefined, Policy>();

  constructor(parts: SubsystemParts) {
    this.skills = deepFreeze(parts.skills);
    this.diagnostics = deepFreeze(parts.diagnostics);
    this.agentsConfig = deepFreeze(parts.agentsConfig);
    this.overrides = deepFreeze(parts.overrides);
    this.customSkillsRoot = parts.customSkillsRoot;
    this.bundleRoot = parts.bundleRoot;
    this.#byId = new Map(parts.skills.map((skill) => [skill.id, skill]));
    this.#trees = parts.trees;
  }

  /** The skills that a consumer may see, sorted by full id. */
  visible(options: ConsumerOptions = {}): Skill[] {
    const scope = this.#scope(options);
    return this.skills.filter((skill) => refusalOf(skill.id, scope) === undefined);
  }

  /** A snapshot of what a consumer may see; short ids mean its entries. */
  catalog(options: ConsumerOptions = {}): Catalog {
    return takeCatalog(options.consumer, this.visible(options));
  }

  /**
   * Writes the catalog that a consumer is shown.
   *
   * @throws SkillcellError `usage.invalid` for a budget that is no whole number
   */
  skillsGalleryText(options: GalleryOptions = {}): Gallery {
    const { budget } = options;
    if (budget !== undefined && !(Number.isSafeInteger(budget) && budget >= 0)) {
      const message = `Cannot write the catalog: the budget is a whole number of tokens, got ${String(budget)}.`;
      throw new SkillcellError('usage.invalid', message);
    }
    const visible = this.visible(options);
    const { ids, digest } = options.catalog ?? takeCatalog(options.consumer, visible);
    const entries = catalogEntries(ids, new Map(visible.map((skill) => [skill.id, skill])));
    return { ...writeCatalog(entries, options.format ?? 'text', budget), ids, digest, diagnostics: [] };
  }

  /** Answers references, one row each. */
  resolve(
    refs: readonly string[],
    options: SelectionOptions = {},
  ): { rows: ReferenceRow[]; diagnostics: Diagnostic[] } {
    return { rows: resolveReferences(refs, this.#scope(options)), diagnostics: [] };
  }

  /** Resolves references and adds all that the skills import, dependencies first. */
  importSkillset(refs: readonly string[], options: SelectionOptions = {}): Skillset {
    const { rows } = this.resolve(refs, options);
    const requested = rows.flatMap((row) => (row.status === 'loaded' && row.id !== undefined ? [row.id] : []));
    const { skills, diagnostics } = expandImports(requested, this.#byId, this.#policy(options.consumer));
    return { skills, rows, diagnostics };
  }

  /** Writes the `[ACTIVE SKILLS]` block for references. */
  buildSkillsInstructionBlock(options: RenderOptions & { refs: readonly string[] }): InstructionBlock {
    const { skills, rows, diagnostics } = this.importSkillset(options.refs, options);
    const rendered = renderSkills(skills, options.variant ?? 'full', options.pool ?? []);
    const text = activeSkillsBlock(rendered.bodies);
    return {
      text,
      sha256: digestOf(text).slice('sha256:'.length),
      active: skills.map((skill) => skill.id),
      rows,
      pool: rendered.pool,
      map: rendered.map,
      diagnostics: [...diagnostics, ...rendered.diagnostics],
    };
  }

  /** Gives one skill's body ready for a prompt, without its imports. The policy holds here too. */
  loadSkill(ref: string, options: RenderOptions = {}): SkillReading {
    const [row = { ref, status: 'unknown' as const }] = this.resolve([ref], options).rows;
    const skill = row.status === 'loaded' ? this.#byId.get(row.id ?? '') : undefined;
    const rendered = renderSkills(skill === undefined ? [] : [skill], options.variant ?? 'full', options.pool ?? []);
    const { pool, diagnostics } = rendered;
    return { row, text: rendered.bodies[0]?.text ?? '', pool, map: rendered.map[row.id ?? ''] ?? {}, diagnostics };
  }

  /** Chooses skills for a query by their triggers, and how much of them to disclose. */
  match(query: string, options: MatchSelection = {}): MatchResult {
    const { max, recent } = options;
    return matchSkills(query, this.visible(options), {
      ...(max === undefined ? {} : { max }),
      ...(recent === undefined ? {} : { recent }),
    });
  }

  /**
   * Reads a file of a skill by its manifest. With a consumer, only of a skill that it may load, by itself or by import.
   *
   * @throws SkillcellError `skills.reference-unknown` or `skills.reference-denied` for the skill
   * @throws SkillcellError `file.unreadable`, `skills.digest-mismatch` or `usage.invalid` for the file
   */
  readSkillFile(reference: string, path: string, options: ReadRange & ConsumerOptions = {}): SkillFileContent {
    const skill = this.#known(reference);
    if (options.consumer !== undefined) {
      const visible = this.visible(options).map(({ id }) => id);
      if (!reachableIds(visible, this.#byId, this.#policy(options.consumer)).has(skill.id)) {
        const message = `Cannot read a file of ${skill.id}: the policy of its consumer forbids it, got ${options.consumer}.`;
        throw new SkillcellError('skills.reference-denied', message);
      }
    }
    return readSkillFile(skill, path, options, this.#trees?.get(skill.id));
  }

  /** The descriptor of these skills; the portable form lists every loaded skill and names no folder. */
  descriptor(options: { portable?: boolean | undefined; consumer?: string | undefined } = {}): FullDescriptor {
    const catalog = this.catalog({ consumer: options.consumer });
    const { customSkillsRoot, bundleRoot, agentsConfig, overrides } = this;
    const parts = { customSkillsRoot, bundleRoot, agentsConfig, overrides, catalog };
    return options.portable === true ? makePortableDescriptor(parts, this.skills) : makeDescriptor(parts);
  }

  /**
   * The bytes of a skill: those that arrived, or those that are on disk now.
   *
   * @throws SkillcellError `skills.reference-unknown` when no skill has this id
   */
  skillTree(id: string): SkillTree {
    const skill = this.#known(id);
    return this.#trees?.get(skill.id) ?? readSkillTree(skill);
  }

  #known(reference: string): Skill {
    const [row] = resolveReferences([reference], { ...this.#scope({ includeInternal: true }), policy: ALLOW_ALL });
    const skill = this.#byId.get(row?.id ?? '');
    if (skill !== undefined) return skill;
    const message = `Cannot find the skill: no loaded skill has this id, got ${JSON.stringify(reference)}.`;
    throw new SkillcellError('skills.reference-unknown', message);
  }

  #scope(options: SelectionOptions): ResolveScope {
    return {
      has: (id) => this.#byId.has(id),
      shortIds: options.catalog?.ids,
      policy: this.#policy(options.consumer),
      includeInternal: options.includeInternal ?? false,
    };
  }

  #policy(consumer: string | undefined): Policy {
    let policy = this.#policies.get(consumer);
    if (policy === undefined) {
      policy = policyFor(this.agentsConfig, consumer);
      this.#policies.set(consumer, policy);
    }
    return policy;
  }
}

const ALLOW_ALL: Policy = { denies: () => false, allows: () => true };
