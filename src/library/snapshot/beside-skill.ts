import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { withoutEnd } from '../../contracts/text/without-end.ts';
import { precedenceOf } from '../../skills/load/load-roots.ts';

/** Sorts skills of all sources: by precedence of their kind, then later sources first, then in their order. */
export function inOrder(skills: Iterable<Skill>): Skill[] {
  return [...skills].toSorted((a, b) => precedenceOf(b.rootKind) - precedenceOf(a.rootKind) || b.root - a.root);
}

/**
 * The other skills with the id of a taken one, in order of precedence, and the reason why each was not taken.
 *
 * @param all every skill, including refused ones
 * @param refused skills that may not be loaded, with the reason
 */
export function besideSkill(
  taken: Skill,
  all: Iterable<Skill>,
  refused: ReadonlyMap<Skill, Diagnostic>,
): { skill: Skill; reason: string }[] {
  const ordered = inOrder(all).filter(({ id }) => id === taken.id);
  const place = ordered.indexOf(taken);
  return ordered.flatMap((skill, index) => {
    if (skill === taken) return [];
    const refusal = refused.get(skill);
    const reason = refusal === undefined ? reasonOf(skill, taken, index < place) : withoutEnd(refusal.message, '.');
    return [{ skill, reason }];
  });
}

function reasonOf(other: Skill, taken: Skill, isInFront: boolean): string {
  if (isInFront) return 'it takes precedence, but a version range excludes it';
  if (other.rootKind !== taken.rootKind)
    return `the ${taken.rootKind} kind takes precedence over the ${other.rootKind} kind`;
  if (other.root !== taken.root) return `a later source of the ${taken.rootKind} kind takes precedence`;
  return other.digest === taken.digest
    ? `it is a copy of ${taken.dir} of the same root`
    : `${taken.dir} of the same root has the id already`;
}
