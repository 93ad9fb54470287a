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

/** One rule, and its effect on a skill. */
export interface ExplainedRule {
  /** Example: `agents_config["desk"].disabled "custom.*"`. */
  rule: string;
  /** The effect of the rule: for or against the skill, or none. */
  says: 'for' | 'against' | 'nothing';
  reason: string;
}

/** Source of a skill's bytes, as far as it is known besides the folder. */
export interface KnownProvenance {
  origin?: Origin | undefined;
  /** Whether only its head was fetched, so its digest is unknown. */
  isHead?: boolean | undefined;
  /** The lock's entry for these bytes: `by` is the person who approved them, or null. */
  approval?: { by: string | null } | undefined;
  /** Other skills with its id, the preferred one first, with the reasons why they were not chosen. */
  others?: readonly { skill: Skill; origin: Origin | undefined; reason: string }[] | undefined;
}

/** Another skill with the same id, of any version, that was not chosen. */
export interface OtherVersion {
  version: string | null;
  /** Its root and folder. */
  origin: SkillPlace;
  reason: string;
}

/** Place of a skill: the kind of its root, the path of its folder there, and the place of the root. */
export interface SkillPlace {
  root: string;
  folder: string;
  from?: Origin;
}

/** Reasons why a consumer has a skill or does not have it. */
export interface SkillExplanation {
  ref: string;
  id?: string;
  status: ReferenceRow['status'];
  /** Whether it is in the catalog of the consumer. */
  offered: boolean;
  /** The rules that concern the skill and decide. */
  rules: ExplainedRule[];
  /** Number of patterns of the policy that match only other skills. */
  patternsOfOthers: number;
  /** Absent if the consumer may not have the skill. */
  skill?: {
    name: string;
    version: string | null;
    /** Absent if only the head was fetched: a digest needs every byte. */
    digest?: string;
    origin: SkillPlace;
    /** Absent if there is no lock. */
    approval?: { by: string | null };
    /** Estimates for the body, and for the body with everything that is loaded with it. */
    tokens: { body: number; withImports: number };
    /** The skills that are loaded with it, in load order; the skill itself is last. */
    loads: { id: string; version: string | null; tokens: number }[];
    /** All imports that are followed. */
    imports: ImportEdge[];
    /** Other skills with its id, with the reasons for this choice; absent if there are no others. */
    versions?: OtherVersion[];
    diagnostics: Diagnostic[];
  };
}

/**
 * Explains the result of a reference for a consumer. It uses the rules of loading.
 *
 * @param provenance returns facts about a skill that its folder does not hold
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
    if (includeInternal === true) add('namespace', 'for', 'the request includes internal skills');
    else add('namespace', 'against', INTERNAL_ONLY);
  }
  // If the policy denies the skill, the explanation reveals nothing more about it.
  if (rules.some(({ says }) => says === 'against')) return { rules, patternsOfOthers };
  const lacking = reasonForTools(skill, tools);
  if (lacking !== undefined) add('tools.yaml', 'against', lacking);
  const people = reasonForModels(skill);
  if (people !== undefined)
    add('disable-model-invocation', 'against', `${people}: in no catalog, loaded by reference only`);
  if (fields.defaultEnabled === false) {
    const named = policyFor(config, consumer).names(id);
    const reason = named ? 'it matches anyway: enabled names it' : 'its triggers match only if enabled names it';
    add('default_enabled: false', named ? 'for' : 'against', reason);
  }
  return { rules, patternsOfOthers };
}
