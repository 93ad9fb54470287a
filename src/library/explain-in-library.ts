import { explainSkill, type KnownProvenance, type SkillExplanation } from '../authoring/explain-skill.ts';
import type { Skill } from '../contracts/skills/skill.ts';
import type { ConsumerOptions } from '../skills/subsystem-contract.ts';
import { SkillsSubsystem } from '../skills/load-subsystem.ts';
import type { Assembled } from './snapshot/assemble.ts';
import { besideSkill } from './snapshot/beside-skill.ts';
import { provenanceBy } from './lock/provenance.ts';
import { readLock } from './lock/format/read-lock.ts';
import { versionsFor } from './snapshot/versions-for.ts';

/**
 * Explains a skill of a library: the version that a request for the reference would get, and the other versions beside it.
 *
 * @throws SkillcellError `skills.version-unmet` where no versions go together; `lock.invalid`
 */
export function explainInLibrary(of: Assembled, ref: string, who: ConsumerOptions, lockFile: string): SkillExplanation {
  const { subsystem, sources, refused } = of;
  const chosen = versionsFor(of, { ...who, refs: [ref] });
  const byLock = provenanceBy(readLock(lockFile));
  const refusals = new Map([...refused].map(([skill, { diagnostic }]) => [skill, diagnostic]));
  const provenance = (skill: Skill): KnownProvenance => {
    const record = sources.get(skill)?.record;
    const isHead = record !== undefined && record.digest === undefined;
    const locked = isHead ? {} : byLock(skill);
    const others = besideSkill(skill, [...sources.keys(), ...refused.keys()], refusals).map((other) => ({
      ...other,
      origin: (sources.get(other.skill) ?? refused.get(other.skill))?.record.item.origin,
    }));
    return { ...locked, origin: locked.origin ?? record?.item.origin, isHead, others };
  };
  const versions = subsystem.skills.map((skill) => chosen.get(skill.id) ?? skill);
  return explainSkill(withVersions(subsystem, versions), ref, who, provenance);
}

/** The same skills in other versions. */
function withVersions(subsystem: SkillsSubsystem, versions: Skill[]): SkillsSubsystem {
  const { diagnostics, agentsConfig, overrides, customNamespaces, customSkillsRoot, bundleRoot } = subsystem;
  return new SkillsSubsystem({
    ...{ skills: versions, diagnostics: [...diagnostics], agentsConfig, customSkillsRoot, bundleRoot },
    ...{ overrides: [...overrides], customNamespaces: [...customNamespaces], admitted: true },
  });
}
