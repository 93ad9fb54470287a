import type { LibraryRequest, SkillLibrary } from '../../library/snapshot/skill-library.ts';
import { SkillsSubsystem } from '../../skills/load-subsystem.ts';

/** Skills as they are, or a library, which gives them as they are whenever it is asked. */
export type GivenSkills = SkillsSubsystem | SkillLibrary;

const NONE = new SkillsSubsystem({
  ...{ skills: [], diagnostics: [], agentsConfig: {}, overrides: [], customNamespaces: [] },
  ...{ customSkillsRoot: null, bundleRoot: null },
});

/** Whether skills may be others the next time they are asked for. */
export function isLibrary(skills: GivenSkills): skills is SkillLibrary {
  return 'subsystem' in skills;
}

/**
 * Skills as they are now.
 *
 * @throws SkillcellError `store.unavailable` of a library
 */
export async function presentSkills(skills: GivenSkills, request?: LibraryRequest): Promise<SkillsSubsystem>;
export async function presentSkills(
  skills: GivenSkills | undefined,
  request?: LibraryRequest,
): Promise<SkillsSubsystem | undefined>;
export async function presentSkills(
  skills: GivenSkills | undefined,
  request: LibraryRequest = {},
): Promise<SkillsSubsystem | undefined> {
  if (skills === undefined) return undefined;
  return isLibrary(skills) ? await skills.subsystem(request) : skills;
}

/** Skills that are known without asking anybody; of a library there are none. */
export function knownSkills(skills: GivenSkills): SkillsSubsystem {
  return isLibrary(skills) ? NONE : skills;
}
