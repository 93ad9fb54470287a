import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { AgentsConfig, ReferenceRow, Skill } from '../contracts/skills/skill.ts';
import type { Origin } from '../contracts/skills/store.ts';
import { bodyTokens } from '../skills/catalog/catalog-entry.ts';
import { reasonForModels, reasonForTools } from '../skills/select/left-out.ts';
import { EVERY_CONSUMER, policyFor } from '../skills/select/policy.ts';
import { INTERNAL_ONLY } from '../skills/select/resolve-references.ts';
import type { SkillsSubsystem } from '../skills/subsystem.ts';
import type { ConsumerOptions } from '../skills/subsystem-contract.ts';
import { type ImportEdge, importGraph } from './import-graph.ts';

/** One rule, and what it says of a skill. */
export interface ExplainedRule {
  /** `agents_config["desk"].disabled "custom.*"`, for example. */
  rule: string;
  /** Against it, for it, or neither. */
  says: 'for' | 'against' | 'nothing';
  reason: string;
}

/** What is known of where a skill's bytes come from, beside its folder. */
export interface KnownProvenance {
  origin?: Origin | undefined;
  /** Whether only its head is known, and its digest is not. */
  isHead?: boolean | undefined;
  /** What the lock says of these bytes: who approved them, null for nobody. */
  approval?: { by: string | null } | undefined;
  /** Other skills of its id that are there, the preferred one first, and why they are not this one. */
  others?: readonly { skill: Skill; origin: Origin | undefined; reason: string }[] | undefined;
}

/** A skill of the same id that is there, of another version or the same one, and is not the one that is explained. */
export interface OtherVersion {
  version: string | null;
  /** Root and folder in which it lies. */
  origin: SkillPlace;
  reason: string;
}

/** Where a skill lies: kind of its root, path of its folder there, and where the root is. */
export interface SkillPlace {
  root: string;
  folder: string;
  from?: Origin;
}

/** Why a consumer has a skill, or has it not. */
export interface SkillExplanation {
  ref: string;
  id?: string;
  status: ReferenceRow['status'];
  /** Whether it is in the catalog of the consumer, too. */
  offered: boolean;
  /** The rules that are about the skill; they decide. */
  rules: ExplainedRule[];
  /** How many patterns of the policy were asked besides, and match other skills only. */
  patternsOfOthers: number;
  /** Absent for a skill that the consumer may not have. */
  skill?: {
    name: string;
    version: string | null;
    /** Absent where that takes every byte of it, and it was never fetched. */
    digest?: string;
    origin: SkillPlace;
    /** Undefined where nothing is locked. */
    approval?: { by: string | null };
    /** Estimates: of the body, and of it with all that is loaded with it. */
    tokens: { body: number; withImports: number };
    /** What is loaded with it, in load order, itself last. */
    loads: { id: string; version: string | null; tokens: number }[];
    /** Each import on the way. */
    imports: ImportEdge[];
    /** Others of its id that lie beside it, and why this one counts; absent where there are none. */
    versions?: OtherVersion[];
    diagnostics: Diagnostic[];
  };
}

/**
 * Explains what a consumer gets for a reference, by the rules that loading itself goes by.
 *
 * @param provenance tells of a skill what no folder tells
 */
export function explainSkill(
  subsystem: SkillsSubsystem,
  ref: string,
  who: ConsumerOptions,
  provenance: (skill: Skill) => KnownProvenance = () => ({}),
): SkillExplanation {
  const catalog = subsystem.catalog(who);
  const [row = { ref, status: 'unknown' as const }] = subsystem.resolve([ref], { ...who, catalog }).rows;
  const skill = subsystem.skills.find(({ id }) => id === row.id);
  if (skill === undefined) return { ref, status: 'unknown', offered: false, rules: [], patternsOfOthers: 0 };
  const { id } = skill;
  const rules = rulesOf(subsystem.agentsConfig, skill, who);
  const told = { ref, id, status: row.status, offered: catalog.ids.includes(id), ...rules };
  if (row.status !== 'loaded') return told;
  const { skills, diagnostics } = subsystem.importSkillset([ref], { ...who, catalog });
  const loads = skills.map((each) => ({
    id: each.id,
    version: each.fields.version ?? null,
    tokens: bodyTokens(each),
  }));
  const { origin, approval, isHead = false, others = [] } = provenance(skill);
  return {
    ...told,
    skill: {
      name: skill.name,
      version: skill.fields.version ?? null,
      ...(isHead ? {} : { digest: skill.digest }),
      origin: placeOf(skill, origin),
      ...(approval === undefined ? {} : { approval }),
      tokens: { body: bodyTokens(skill), withImports: loads.reduce((sum, { tokens }) => sum + tokens, 0) },
      loads,
      imports: importGraph(subsystem, [id], who.consumer).imports,
      ...(others.length === 0 ? {} : { versions: others.map(otherVersion) }),
      diagnostics: [...skill.diagnostics, ...diagnostics],
    },
  };
}

function otherVersion({ skill, origin, reason }: NonNullable<KnownProvenance['others']>[number]): OtherVersion {
  return { version: skill.fields.version ?? null, origin: placeOf(skill, origin), reason };
}

function placeOf({ rootKind, dir }: Skill, from: Origin | undefined): SkillPlace {
  return { root: rootKind, folder: dir, ...(from === undefined ? {} : { from }) };
}

function rulesOf(
  config: AgentsConfig,
  skill: Skill,
  who: ConsumerOptions,
): Pick<SkillExplanation, 'rules' | 'patternsOfOthers'> {
  const { consumer, includeInternal, tools } = who;
  const { id, fields } = skill;
  const rules: ExplainedRule[] = [];
  let patternsOfOthers = 0;
  const add = (rule: string, says: ExplainedRule['says'], reason: string): void =>
    void rules.push({ rule, says, reason });
  const own = consumer === undefined || !Object.hasOwn(config, consumer) ? undefined : config[consumer];
  const listed = [
    [EVERY_CONSUMER, 'disabled', Object.hasOwn(config, EVERY_CONSUMER) ? config[EVERY_CONSUMER]?.disabled : undefined],
    ...(consumer === EVERY_CONSUMER
      ? []
      : [[consumer, 'disabled', own?.disabled] as const, [consumer, 'enabled', own?.enabled] as const]),
  ] as const;
  for (const [name, list, patterns] of listed) {
    const where = `agents_config[${JSON.stringify(name)}].${list}`;
    for (const pattern of patterns ?? []) {
      const isMet = policyFor({ [EVERY_CONSUMER]: { disabled: [pattern] } }, undefined).denies(id);
      const says = list === 'disabled' ? 'against' : 'for';
      if (isMet) add(`${where} ${JSON.stringify(pattern)}`, says, `the pattern matches ${id}`);
      else patternsOfOthers += 1;
    }
    if (
      list === 'enabled' &&
      patterns !== undefined &&
      !policyFor(config, consumer).allows(id) &&
      !rules.some(({ says }) => says === 'for')
    )
      add(where, 'against', 'no pattern of the list matches');
  }
  if (own === undefined && consumer !== undefined) add('agents_config', 'nothing', `it has no entry for ${consumer}`);
  if (id.startsWith('internal.')) {
    if (includeInternal === true) add('namespace', 'for', 'whoever asks may have internal skills');
    else add('namespace', 'against', INTERNAL_ONLY);
  }
  // What the policy keeps from the consumer says nothing more of itself.
  if (rules.some(({ says }) => says === 'against')) return { rules, patternsOfOthers };
  const lacking = reasonForTools(skill, tools);
  if (lacking !== undefined) add('tools.yaml', 'against', lacking);
  const people = reasonForModels(skill);
  if (people !== undefined)
    add('disable-model-invocation', 'against', `${people}: in no catalog, loaded by reference only`);
  if (fields.defaultEnabled === false) {
    const named = policyFor(config, consumer).names(id);
    const reason = named ? 'it matches in spite of it: enabled names it' : 'its triggers match nothing by themselves';
    add('default_enabled: false', named ? 'for' : 'against', reason);
  }
  return { rules, patternsOfOthers };
}
