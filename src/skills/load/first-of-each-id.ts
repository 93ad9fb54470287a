import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { listNames } from '../text/list-names.ts';
import { skillFilePath } from './files/skill-file-name.ts';

const NAMED = 10;

/** Outcome for skills of one root that share full ids. */
export interface FirstOfEachId {
  skills: Skill[];
  /** One diagnostic for each skill that is refused, because another skill with different files has its id. */
  duplicates: ReadonlyMap<Skill, Diagnostic>;
  /** One diagnostic for all copies of a skill. */
  copies: Diagnostic[];
}

/**
 * Keeps the first skill of each full id. A skill with the same files is a copy; one diagnostic names all copies. A skill
 * with different files is a duplicate, and an error.
 *
 * @param found the skills of one root, in path order
 * @param nameOf name of a skill in messages; default its full id
 * @returns the skills that stay, in path order, and diagnostics for the others
 */
export function firstOfEachId(found: readonly Skill[], nameOf = ({ id }: Skill): string => id): FirstOfEachId {
  const first = new Map<string, Skill>();
  const same = new Map<Skill, [Skill, ...Skill[]]>();
  const duplicates = new Map<Skill, Diagnostic>();
  for (const skill of found) {
    const kept = first.get(skill.id);
    if (kept === undefined) first.set(skill.id, skill);
    else if (kept.digest === skill.digest) {
      const copies = same.get(kept);
      if (copies === undefined) same.set(kept, [skill]);
      else copies.push(skill);
    } else {
      const message = `${nameOf(kept)} is already the skill in ${kept.dir}; this one is not loaded.`;
      duplicates.set(skill, diagnostic('skill.duplicate', message, { path: skillFilePath(skill) }));
    }
  }
  const copies = [...same].map(([kept, others]) => copiesOf(nameOf(kept), kept.dir, others));
  return { skills: [...first.values()], duplicates, copies };
}

function copiesOf(name: string, dir: string, copies: readonly [Skill, ...Skill[]]): Diagnostic {
  const named = listNames(copies, NAMED, (copy) => copy.dir);
  const message = `${name} is loaded from ${dir}; the same files lie in ${named}.`;
  return diagnostic('skill.copy', message, { path: skillFilePath(copies[0]) });
}
