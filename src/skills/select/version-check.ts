import type { Skill } from '../../contracts/skills/skill.ts';

/** Refuses skills whose versions differ from those that references and imports ask for. */
export type VersionCheck = (refs: readonly string[], skills: readonly Skill[]) => void;

let offered: VersionCheck | undefined;

/** Takes the check of versions. The host's loaders offer it; a sandbox gets skills that the host has checked. */
export function offerVersionCheck(check: VersionCheck): void {
  offered = check;
}

/** @throws SkillcellError `skills.version-unmet`, if a check was offered */
export function checkVersions(refs: readonly string[], skills: readonly Skill[]): void {
  offered?.(refs, skills);
}
