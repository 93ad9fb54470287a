import type { FullDescriptor } from '../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { MatchResult, TriggerTurnResult } from '../contracts/skills/matching.ts';
import type { AgentsConfig, ReferenceRow, Skill, SkillTree, SkillTrees } from '../contracts/skills/skill.ts';
import type { Call } from '../contracts/skills/store.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { catalogEntries } from './catalog/catalog-entry.ts';
import { takeCatalog, type Catalog } from './catalog/catalog.ts';
import { deepFreeze } from './text/deep-freeze.ts';
import { withoutRange } from './text/bare-reference.ts';
import { digestOf } from './text/digest.ts';
import { expandImports } from './select/expand-imports.ts';
import { makeDescriptor, makePortableDescriptor } from './descriptor/make-descriptor.ts';
import { policyFor, type Policy } from './select/policy.ts';
import { readSkillFile, type ReadRange, type SkillFileContent } from './load/files/read-skill-file.ts';
import { reachableIds } from './select/reachable-ids.ts';
import { activeSkillsBlock, renderSkills } from './render/render-skills.ts';
import { reasonForModels, reasonForTools, reasonLeftOut } from './select/left-out.ts';
import { sluggedIds } from './select/slugged-ids.ts';
import { refusalOf, resolveReferences, type ResolveScope } from './select/resolve-references.ts';
import { readSkillTree } from './load/files/skill-bytes.ts';
import type {
  ConsumerOptions,
  Gallery,
  GalleryOptions,
  InstructionBlock,
  MatchSelection,
  RenderOptions,
  SelectionOptions,
  SkillReading,
  Skillset,
  SubsystemParts,
} from './subsystem-contract.ts';
import { matchSkills } from './match/triggers.ts';
import { assertVersions } from './select/assert-versions.ts';
import { writeCatalog } from './catalog/write-catalog.ts';

export type * from './subsystem-contract.ts';

/**
 * Skills of which only the head was fetched. Catalogs and matches list them. A method that needs their bytes throws, because it
 * is synchronous and cannot fetch them.
 */
export interface SkillHeads {
  /** Full ids. */
  ids: ReadonlySet<string>;
  /** Fetches more of the same snapshot. @throws SkillcellError `store.unavailable`, `store.changed` */
  fetch(request: WholeRequest): Promise<SkillsSubsystem>;
}

/** Request for whole skills. */
export interface WholeRequest extends Call, SelectionOptions {
  refs: readonly string[];
}

/**
 * The skills of one turn: selects, resolves and renders. Immutable; it holds plain data and nothing to close.
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { loadSkillsSubsystem, type SkillsSubsystem } from 'skillcell/skills';
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills: SkillsSubsystem = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * console.log(skills.skills.length, skills.diagnostics.length);
 * // prints: 1 0
 * ```
 */
export class SkillsSubsystem {
  /** Every loaded skill, sorted by full id in code-point order. */
  readonly skills: readonly Skill[];
  /** All diagnostics of loading. */
  readonly diagnostics: readonly Diagnostic[];
  readonly agentsConfig: AgentsConfig;
  /** Full ids that roots other than the built-in one may claim. */
  readonly overrides: readonly string[];
  /** Namespaces besides `custom` that the descriptor's root may publish. */
  readonly customNamespaces: readonly string[];
  readonly customSkillsRoot: string | null;
  readonly bundleRoot: string | null;
  readonly #byId: ReadonlyMap<string, Skill>;
  readonly #trees: SkillTrees | undefined;
  readonly #policies = new Map<string | undefined, Policy>();
  readonly #heads: SkillHeads | undefined;
  readonly #admitted: boolean;

  constructor(parts: SubsystemParts, heads?: SkillHeads) {
    this.skills = deepFreeze(parts.skills);
    this.diagnostics = deepFreeze(parts.diagnostics);
    this.agentsConfig = deepFreeze(parts.agentsConfig);
    this.overrides = deepFreeze(parts.overrides);
    this.customNamespaces = deepFreeze(parts.customNamespaces);
    this.customSkillsRoot = parts.customSkillsRoot;
    this.bundleRoot = parts.bundleRoot;
    this.#byId = new Map(parts.skills.map((skill) => [skill.id, skill]));
    this.#trees = parts.trees;
    this.#heads = heads;
    this.#admitted = parts.admitted ?? false;
  }

  /**
   * The skills that a consumer may see, sorted by full id.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * console.log(skills.visible({ consumer: 'solver.codegen' }).map(({ id }) => id));
   * // prints: [ 'custom.units' ]
   * ```
   */
  visible(options: ConsumerOptions = {}): Skill[] {
    const scope = this.#scope(options);
    return this.skills.filter((skill) => refusalOf(skill.id, scope) === undefined);
  }

  /**
   * A snapshot of the skills that a consumer's models may use. Short ids refer to its entries.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const catalog = skills.catalog();
   * // Short ids refer to the snapshot that was shown.
   * console.log(catalog.ids, skills.resolve(['SK1'], { catalog }).rows[0]?.id);
   * // prints: [ 'custom.units' ] custom.units
   * ```
   */
  catalog(options: ConsumerOptions = {}): Catalog {
    return takeCatalog(options.consumer, this.#offered(options));
  }

  /**
   * Full ids of visible skills that the consumer's `enabled` names. They match despite `default_enabled: false`.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const agents_config = { writer: { enabled: ['custom.units'] } };
   * const skills = loadSkillsSubsystem({
   *   descriptor: { custom_skills_root: 'skills', agents_config },
   *   bundleRoot: process.cwd(),
   * });
   * console.log(skills.enabledByName({ consumer: 'writer' }), skills.enabledByName());
   * // prints: [ 'custom.units' ] []
   * ```
   */
  enabledByName(options: ConsumerOptions = {}): string[] {
    const policy = this.#policy(options.consumer);
    return this.visible(options).flatMap(({ id }) => (policy.names(id) ? [id] : []));
  }

  /**
   * Writes the catalog for a consumer.
   *
   * @throws SkillcellError `usage.invalid` for a budget that is not a whole number
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const { text, ids } = skills.skillsGalleryText({ budget: 1_000 });
   * console.log(ids, text.split('\n')[0]);
   * // prints: [ 'custom.units' ] [SKILL CATALOG]
   * ```
   */
  skillsGalleryText(options: GalleryOptions = {}): Gallery {
    const { budget } = options;
    if (budget !== undefined && !(Number.isSafeInteger(budget) && budget >= 0)) {
      const message = `Cannot write the catalog: the budget is a whole number of tokens, got ${String(budget)}.`;
      throw new SkillcellError('usage.invalid', message);
    }
    const offered = this.#offered(options);
    const { ids, digest } = options.catalog ?? takeCatalog(options.consumer, offered);
    const entries = catalogEntries(ids, new Map(offered.map((skill) => [skill.id, skill])));
    const written = writeCatalog(entries, options.format ?? 'text', budget, options.budgetSteps);
    const leftOut = this.#leftOut(options).map(({ skill, reason }) => ({ id: skill.id, reason }));
    return { ...written, ids, digest, leftOut, diagnostics: [] };
  }

  /**
   * Answers references, one row each.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * for (const { ref, status, id } of skills.resolve(['custom.units', 'custom.other']).rows) console.log(ref, status, id);
   * // prints: custom.units loaded custom.units
   * // prints: custom.other unknown undefined
   * ```
   */
  resolve(
    refs: readonly string[],
    options: SelectionOptions = {},
  ): { rows: ReferenceRow[]; diagnostics: Diagnostic[] } {
    return { rows: resolveReferences(refs, this.#scope(options)), diagnostics: [] };
  }

  /**
   * Resolves references and adds all imports of the skills, dependencies first.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * for (const id of ['units', 'report']) mkdirSync(`skills/${id}`, { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units.\n---\nGive SI units.\n');
   * const front = 'name: report\ndescription: Reports.\nimport: [custom.units]';
   * writeFileSync('skills/report/SKILL.md', `---\n${front}\n---\nBegin with the result.\n`);
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * console.log(skills.importSkillset(['custom.report']).skills.map(({ id }) => id));
   * // prints: [ 'custom.units', 'custom.report' ]
   * ```
   */
  importSkillset(refs: readonly string[], options: SelectionOptions = {}): Skillset {
    const found = this.#import(refs, options);
    for (const { id } of found.skills) this.#requireWhole(id);
    return found;
  }

  /**
   * Returns the same skills, with the bytes of the requested ones and of their imports. Skills that were loaded from folders have
   * their bytes already.
   *
   * @throws SkillcellError `store.unavailable`; `store.changed` where their bytes are gone from their store
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * console.log((await skills.withWhole({ refs: ['custom.units'] })) === skills);
   * // prints: true
   * ```
   */
  async withWhole({ refs, ...request }: WholeRequest): Promise<SkillsSubsystem> {
    const heads = this.#heads;
    if (heads === undefined) return this;
    try {
      if (this.#import(refs, request).skills.every(({ id }) => !heads.ids.has(id))) return this;
    } catch {
      // Other versions of the same snapshot may go together.
    }
    return await heads.fetch({ ...request, refs });
  }

  #import(refs: readonly string[], options: SelectionOptions): Skillset {
    const { rows } = this.resolve(refs, options);
    const requested = rows.flatMap((row) => (row.status === 'loaded' && row.id !== undefined ? [row.id] : []));
    const { skills, diagnostics } = expandImports(requested, this.#byId, this.#policy(options.consumer));
    assertVersions(refs, skills);
    return { skills, rows, diagnostics: [...diagnostics, ...this.#refusedImports(skills, options.consumer)] };
  }

  /** Refusals of skills that these ones import. */
  #refusedImports(skills: readonly Skill[], consumer: string | undefined): Diagnostic[] {
    const refusals = this.#admitted ? this.diagnostics.filter(({ skill }) => skill !== undefined) : [];
    if (refusals.length === 0) return [];
    const policy = this.#policy(consumer);
    const imported = new Set(skills.flatMap(({ fields }) => (fields.imports ?? []).map(withoutRange)));
    for (const { id } of this.skills) imported.delete(id);
    return refusals.filter(({ skill = '' }) => imported.has(skill) && !policy.denies(skill));
  }

  #requireWhole(id: string | undefined): void {
    if (id === undefined || this.#heads?.ids.has(id) !== true) return;
    throw new SkillcellError('skills.reference-unknown', `Cannot load ${id}: only its head was fetched.`, {
      hint: 'Name it in the `refs` of library.subsystem(), or leave `refs` out to have all skills fetched.',
    });
  }

  /**
   * Writes the `[ACTIVE SKILLS]` block for references.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const { text, active } = skills.buildSkillsInstructionBlock({ refs: ['custom.units'] });
   * console.log(active, text.split('\n')[0]);
   * // prints: [ 'custom.units' ] [ACTIVE SKILLS]
   * ```
   */
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

  /**
   * Returns one skill's body ready for a prompt, without its imports. The policy applies here too.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const { row, text } = skills.loadSkill('custom.units');
   * console.log(row.status, text.includes('Give SI units.'));
   * // prints: loaded true
   * ```
   */
  loadSkill(ref: string, options: RenderOptions = {}): SkillReading {
    const [row = { ref, status: 'unknown' as const }] = this.resolve([ref], options).rows;
    const skill = row.status === 'loaded' ? this.#byId.get(row.id ?? '') : undefined;
    this.#requireWhole(skill?.id);
    const rendered = renderSkills(skill === undefined ? [] : [skill], options.variant ?? 'full', options.pool ?? []);
    const { pool, diagnostics } = rendered;
    return { row, text: rendered.bodies[0]?.text ?? '', pool, map: rendered.map[row.id ?? ''] ?? {}, diagnostics };
  }

  /**
   * Chooses skills for a query by their triggers, and how much of them to disclose.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * const triggers = 'triggers:\n  keywords: [unit conversion]\n';
   * writeFileSync('skills/units/SKILL.md', `---\nname: units\ndescription: Units.\n${triggers}---\nGive SI units.\n`);
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const { tier, matches } = skills.match('I need a unit conversion.');
   * console.log(tier, matches);
   * // prints: 3 [ { id: 'custom.units', hits: [ 'keyword:unit conversion' ] } ]
   * ```
   */
  match(query: string, options: MatchSelection = {}): MatchResult & Partial<TriggerTurnResult> {
    const { max, recent, session } = options;
    const visible = this.visible(options);
    const seen = new Set(visible);
    const hidden = this.#leftOut(options).filter(({ skill }) => !seen.has(skill));
    const turn = { hidden, max, named: this.enabledByName(options) };
    if (session !== undefined) return session.turn({ ...turn, query, skills: visible });
    return matchSkills(query, visible, { ...turn, recent });
  }

  /**
   * Reads a file of a skill by its manifest. A consumer can only read files of skills that it may load, directly or by import.
   *
   * @throws SkillcellError `skills.reference-unknown` or `skills.reference-denied` for the skill
   * @throws SkillcellError `file.unreadable`, `skills.digest-mismatch` or `usage.invalid` for the file
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const file = skills.readSkillFile('custom.units', 'SKILL.md', { offset: 4 });
   * console.log(file.as === 'text' && file.text.trim());
   * // prints: Give SI units.
   * ```
   */
  readSkillFile(reference: string, path: string, options: ReadRange & ConsumerOptions = {}): SkillFileContent {
    const skill = this.#known(reference);
    this.#requireWhole(skill.id);
    if (options.consumer !== undefined) {
      const visible = this.visible(options).map(({ id }) => id);
      if (!reachableIds(visible, this.#byId, this.#policy(options.consumer)).has(skill.id)) {
        const consumer = JSON.stringify(options.consumer);
        const message = `Cannot read a file of ${skill.id}: the policy of the consumer ${consumer} forbids it.`;
        throw new SkillcellError('skills.reference-denied', message);
      }
    }
    return readSkillFile(skill, path, options, this.#trees?.get(skill.id));
  }

  /**
   * The descriptor of these skills. The portable form lists every loaded skill and names no folder.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * const { skills: listed, custom_skills_root } = skills.descriptor({ portable: true });
   * console.log(Object.keys(listed ?? {}), custom_skills_root);
   * // prints: [ 'custom.units' ] null
   * ```
   */
  descriptor(options: { portable?: boolean | undefined; consumer?: string | undefined } = {}): FullDescriptor {
    if (options.portable === true) for (const id of this.#heads?.ids ?? []) this.#requireWhole(id);
    const catalog = this.catalog({ consumer: options.consumer });
    const { customSkillsRoot, bundleRoot, agentsConfig, overrides, customNamespaces } = this;
    const parts = { customSkillsRoot, bundleRoot, agentsConfig, overrides, customNamespaces, catalog };
    return options.portable === true ? makePortableDescriptor(parts, this.skills) : makeDescriptor(parts);
  }

  /**
   * The bytes of a skill: those that arrived, or else those on disk now.
   *
   * @throws SkillcellError `skills.reference-unknown` when no skill has this id
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { loadSkillsSubsystem } from 'skillcell/skills';
   * mkdirSync('skills/units', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * for (const [path, { executable }] of skills.skillTree('custom.units')) console.log(path, executable);
   * // prints: SKILL.md false
   * ```
   */
  skillTree(id: string): SkillTree {
    const skill = this.#known(id);
    this.#requireWhole(skill.id);
    return this.#trees?.get(skill.id) ?? readSkillTree(skill);
  }

  /** The visible skills that models may invoke. */
  #offered(options: ConsumerOptions): Skill[] {
    return this.visible(options).filter((skill) => reasonForModels(skill) === undefined);
  }

  #leftOut(options: ConsumerOptions): { skill: Skill; reason: string }[] {
    const scope = this.#scope(options);
    return this.skills.flatMap((skill) => {
      const reason = reasonLeftOut(skill, scope);
      return reason === undefined ? [] : [{ skill, reason }];
    });
  }

  #known(reference: string): Skill {
    const [row] = resolveReferences([reference], { ...this.#scope({ includeInternal: true }), policy: ALLOW_ALL });
    const skill = this.#byId.get(row?.id ?? '');
    if (skill !== undefined) return skill;
    const message = `Cannot find the skill: ${row?.reason ?? 'it is not loaded'}, got ${JSON.stringify(reference)}.`;
    throw new SkillcellError('skills.reference-unknown', message);
  }

  #scope(options: SelectionOptions): ResolveScope {
    return {
      has: (id) => this.#byId.has(id),
      shortIds: options.catalog?.ids,
      policy: this.#policy(options.consumer),
      includeInternal: options.includeInternal ?? false,
      lacks: (id) => reasonForTools(this.#byId.get(id), options.tools),
      suggest: (reference) => sluggedIds(reference, this.skills),
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

const ALLOW_ALL: Policy = { denies: () => false, allows: () => true, names: () => false };
