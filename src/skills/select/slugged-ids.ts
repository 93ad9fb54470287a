import type { Skill } from '../../contracts/skills/skill.ts';
import { folderId } from '../text/slug.ts';

const NAMED = 3;

/**
 * Finds the ids that a failing reference may mean: it names a folder whose name became a slug, or lacks the namespace.
 *
 * @param reference without `sk:` and `skills.`
 * @param skills the skills that may be named
 * @returns full ids; ids in the namespace of the reference come first
 */
export function sluggedIds(reference: string, skills: Iterable<Pick<Skill, 'id' | 'skillId'>>): string[] {
  const text = reference.normalize('NFKC');
  const dot = text.indexOf('.');
  const namespace = dot < 0 ? 'public' : text.slice(0, dot);
  const slugs = new Set([folderId(text).id, folderId(text.slice(dot + 1)).id]);
  const ids = [...skills].filter(({ skillId }) => slugs.has(skillId)).map(({ id }) => id);
  const own = ids.filter((id) => id.startsWith(`${namespace}.`));
  return [...own, ...ids.filter((id) => !own.includes(id))].slice(0, NAMED);
}
