import { type Diagnostic, diagnostic } from '../../contracts/diagnostic.ts';
import type { Skill } from '../../contracts/skill.ts';
import { skillFilePath } from './skill-file-name.ts';

const NAMED = 10;

/** What is found when skills of one root share a full id. */
export interface FirstOfEachId {
  skills: Skill[];
  diagnostics: Diagnostic[];
}

/**
 * Keeps the first skill of each full id. One with the same files is a copy, reported once for all; one with others is a
 * duplicate, and an error.
 *
 * @param found the skills of one root, in path order
 * @returns the skills that stay, in path order
 */
export function firstOfEachId(found: readonly Skill[]): FirstOfEachId {
  const first = new Map<string, Skill>();
  const copies = new Map<string, Skill[]>();
  const diagnostics: Diagnostic[] = [];
  for (const skill of found) {
    const kept = first.get(skill.id);
    if (kept === undefined) first.set(skill.id, skill);
    else if (kept.digest === skill.digest) copies.set(skill.id, [...(copies.get(skill.id) ?? []), skill]);
    else {
      const message = `${skill.id} is already the skill in ${kept.dir}; this one is not loaded.`;
      diagnostics.push(diagnostic('skill.duplicate', message, { path: skillFilePath(skill) }));
    }
  }
  for (const [id, [copy, ...others]] of copies) {
    if (copy !== undefined) diagnostics.push(copiesOf(id, first.get(id)?.dir ?? '', [copy, ...others]));
  }
  return { skills: [...first.values()], diagnostics };
}

function copiesOf(id: string, dir: string, copies: readonly [Skill, ...Skill[]]): Diagnostic {
  const more = copies.length > NAMED ? ` and ${copies.length - NAMED} more` : '';
  const named = copies.slice(0, NAMED).map((copy) => copy.dir);
  const message = `${id} is loaded from ${dir}; the same files lie in ${named.join(', ')}${more}.`;
  return diagnostic('skill.copy', message, { path: skillFilePath(copies[0]) });
}
