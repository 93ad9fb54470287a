import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { PUBLIC } from '../kinds/kind-rows.ts';

/** The last version of any skill, by its row: later versions have greater numbers. 0 without skills. */
export async function lastVersion(db: Kysely<Tables>): Promise<number> {
  const { last } = await db
    .selectFrom('skill_binaries')
    .select(({ fn }) => fn.max<number | null>('id').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** The versions of skills that a user could load at a time. Two states with the same numbers have the same versions. */
export interface SkillsState {
  /** The last of them. */
  last: number;
  count: number;
}

/**
 * The skills of a user, and the public ones, as they were at a time. Since then, skills may have been deleted.
 *
 * @param upTo a version of {@link lastVersion}; without it, the present state
 */
export async function skillsState(db: Kysely<Tables>, userId: number, upTo?: number): Promise<SkillsState> {
  const { last, count } = await db
    .selectFrom('skill_binaries')
    .innerJoin('kinds', 'kinds.id', 'skill_binaries.kind_id')
    .select(({ fn }) => [fn.max<number | null>('skill_binaries.id').as('last'), fn.countAll<number>().as('count')])
    .where('kinds.user_id', 'in', [PUBLIC, userId])
    .$if(upTo !== undefined, (query) => query.where('skill_binaries.id', '<=', upTo ?? 0))
    .executeTakeFirstOrThrow();
  return { last: last ?? 0, count };
}
