import { AsyncLocalStorage } from 'node:async_hooks';
import type { SkillsSubsystem } from './subsystem.ts';

const storage = new AsyncLocalStorage<SkillsSubsystem>();
let processDefault: SkillsSubsystem | undefined;

/**
 * Returns the subsystem of the current turn, else the default of the process.
 *
 * @returns the active subsystem, if there is one
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { getActiveSkillsSubsystem, loadSkillsSubsystem, runWithSkills } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const active = runWithSkills(skills, () => getActiveSkillsSubsystem());
 * console.log(active === skills);
 * // prints: true
 * ```
 */
export function getActiveSkillsSubsystem(): SkillsSubsystem | undefined {
  return storage.getStore() ?? processDefault;
}

/**
 * Runs a function with a subsystem as the active one, also for all work that it starts and awaits. Two turns in one
 * process never see each other's skills.
 *
 * @param subsystem the skills of the turn
 * @param run the function
 * @returns the result of `run`
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { loadSkillsSubsystem, runWithSkills, skillsGalleryText } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * console.log(await runWithSkills(skills, async () => skillsGalleryText().ids));
 * // prints: [ 'custom.units' ]
 * ```
 */
export function runWithSkills<T>(subsystem: SkillsSubsystem, run: () => T): T {
  return storage.run(subsystem, run);
}

/**
 * Makes a subsystem the default of the process, for code outside of any turn.
 *
 * @param subsystem the skills of the process
 */
export function setProcessSkills(subsystem: SkillsSubsystem): void {
  processDefault = subsystem;
}
