import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { withoutEnd } from '../../contracts/text/without-end.ts';
import { precedenceOf } from '../../skills/load/load-roots.ts';

/** Skills of all sources, the ones that count first: by precedence, of one kind the later source, in one source the first folder. */
export function inOrder(skills: Iterable<Skill>): Skill[] {
  return [...skills].toSorted((a, b) => precedenceOf(b.rootKind) - precedenceOf(a.rootKind) || b.root - a.root);
}

/**
 * The other skills that have the id of one that was taken, those that count first, and why each was not.
 *
 * @param all what is there, also what may not be loaded
 * @param refused what may not be loaded, with what was said of it
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
  if (isInFront) return 'it stands in front, and a range leaves it out';
  if (other.rootKind !== taken.rootKind)
    return `the ${taken.rootKind} kind stands in front of the ${other.rootKind} kind`;
  if (other.root !== taken.root) return `a later source of the ${taken.rootKind} kind stands in front`;
  return other.digest === taken.digest
    ? `it is a copy of ${taken.dir} of the same root`
    : `${taken.dir} of the same root has the id already`;
}
