import type { Skill } from '../../contracts/skills/skill.ts';

/** Refuses skills whose versions are not those that references and imports ask for. */
export type VersionCheck = (refs: readonly string[], skills: readonly Skill[]) => void;

let offered: VersionCheck | undefined;

/** Takes how versions are compared. The host's loaders offer it; what reaches a sandbox was chosen there. */
export function offerVersionCheck(check: VersionCheck): void {
  offered = check;
}

/** @throws SkillcellError `skills.version-unmet`, where versions are compared at all */
export function checkVersions(refs: readonly string[], skills: readonly Skill[]): void {
  offered?.(refs, skills);
}
