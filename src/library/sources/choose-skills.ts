import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { bareReference } from '../../skills/text/bare-reference.ts';
import { listNames } from '../../skills/text/list-names.ts';
import type { FoundSkill, RefusedSkill, SourceContents } from './find-in-source.ts';

const NAMED = 10;

/**
 * Chooses skills of a source by id, by the part of the id after the dot, or by folder; all without names. Two copies with the same bytes count as
 * one skill.
 *
 * @throws SkillcellError `skills.reference-unknown` for a name without a skill; `source.refused` where two skills have one id; the error of a
 * refused skill, where it is named or the source has no other
 */
export function chooseSkills({ skills: found, refused }: SourceContents, names: readonly string[]): FoundSkill[] {
  const isAsked = ({ folder }: RefusedSkill): boolean => names.some((name) => isOfFolder(folder, name));
  const bad = found.length === 0 ? refused[0] : refused.find(isAsked);
  if (bad !== undefined) throw bad.error;
  for (const name of names) {
    if (found.some((one) => isNamed(one, name))) continue;
    const ids = listNames(found, NAMED, ({ skill }) => skill.skillId);
    throw new SkillcellError(
      'skills.reference-unknown',
      `Cannot add the skill: the source has ${ids === '' ? 'none' : ids}, got ${quotedText(name)}.`,
      { hint: '`skillcell skills add SOURCE --list` lists its skills.' },
    );
  }
  const chosen = names.length === 0 ? found : found.filter((one) => names.some((name) => isNamed(one, name)));
  const byId = new Map<string, FoundSkill>();
  for (const one of chosen) {
    const first = byId.get(one.skill.id);
    if (first === undefined) byId.set(one.skill.id, one);
    else if (first.skill.digest !== one.skill.digest) {
      const places = [first, one].map(({ origin }) => quotedText(origin.folder)).join(' and ');
      throw new SkillcellError(
        'source.refused',
        `Cannot add ${one.skill.id}: two skills have this id, got ${places}.`,
        {
          hint: 'Name the folder of one of them by --skill.',
        },
      );
    }
  }
  return [...byId.values()];
}

/** A refused skill has no id, so its folder stands in for the name. */
function isOfFolder(folder: string, name: string): boolean {
  const text = bareReference(name);
  const own = folder.slice(folder.lastIndexOf('/') + 1);
  return name === folder || text.slice(text.indexOf('.') + 1) === own;
}

function isNamed({ skill, origin }: FoundSkill, name: string): boolean {
  const text = bareReference(name);
  return skill.id === text || skill.skillId === text || origin.folder === name;
}
