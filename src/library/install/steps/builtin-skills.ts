import { skillFolderOf, readSkillTree } from '../../../skills/load/files/skill-bytes.ts';
import { loadUnchecked } from '../../../skills/load-subsystem.ts';
import { compareFolder, type Deviation } from '../../lock/compare-locked.ts';
import type { LockedSkill } from '../../lock/format/lock-format.ts';
import type { FoundSkill } from '../../sources/find-in-source.ts';

/** The source of built-in skills in a lock file. */
const PACKAGE = 'skillcell';

/** The built-in skills by their ids, loaded at the first call. */
export type BuiltinSkills = () => ReadonlyMap<string, FoundSkill>;

/** @param folder absolute path of the built-in skills; undefined for a package without any */
export function builtinSkills(folder: string | undefined): BuiltinSkills {
  let found: ReadonlyMap<string, FoundSkill> | undefined;
  return () =>
    (found ??= new Map(
      loadUnchecked({ builtinRoot: folder }).skills.map((skill) => [
        skill.id,
        {
          skill,
          origin: { type: 'builtin', source: PACKAGE, folder: skill.dir },
          read: () => readSkillTree(skill),
        },
      ]),
    ));
}

/** Compares a locked built-in skill with the installed package. */
export function compareBuiltin(locked: LockedSkill, builtin: BuiltinSkills): Deviation[] {
  const found = builtin().get(locked.id);
  if (found !== undefined) return compareFolder(skillFolderOf(found.skill), locked);
  return locked.files.map(({ path }) => ({ id: locked.id, path, state: 'missing' }));
}
