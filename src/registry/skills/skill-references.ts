import type { Kysely } from 'kysely';
import { folderId } from '../../skills/text/slug.ts';
import type { Tables } from '../database/tables.ts';
import { type Actor, changeRow, findOwnRow, findRow, lockRow } from '../kinds/kind-rows.ts';
import type { GhostSpec } from '../kinds/kind-schemas.ts';
import { deleteUnreferenced, type Referrer, referrersOf } from '../kinds/references.ts';
import { notFound } from '../users/tokens.ts';

/** The ghosts that refer to a skill, the bots of these ghosts, and the teams of these bots, as far as a user may read them. @throws SkillcellError `resource.not-found` */
export async function listReferences(db: Kysely<Tables>, id: number, actor: Actor): Promise<Referrer[]> {
  await findRow(db, 'Skill', id, actor);
  const ghosts = await referrersOf(db, [id], actor);
  const bots = await referrersOf(db, idsOf(ghosts), actor);
  return [...ghosts, ...bots, ...(await referrersOf(db, idsOf(bots), actor))];
}

function idsOf(referrers: readonly Referrer[]): number[] {
  return referrers.map(({ id }) => id);
}

/**
 * Deletes a skill with all versions, unless ghosts refer to it.
 *
 * @returns these ghosts; none if it was deleted
 * @throws SkillcellError `resource.not-found`, `auth.forbidden`, `resource.read-only`
 */
export async function deleteSkill(
  db: Kysely<Tables>,
  id: number,
  actor: Actor,
): Promise<{ referencedGhosts: Referrer[] }> {
  return await db.transaction().execute(async (open) => {
    await findOwnRow(open, 'Skill', id, actor);
    return { referencedGhosts: await deleteUnreferenced(open, id) };
  });
}

/**
 * Removes a skill from the ghosts that refer to it, or from one of them.
 *
 * @returns the number of changed ghosts
 * @throws SkillcellError `resource.not-found`, also for a ghost that does not refer to it; `auth.forbidden`, `resource.read-only`
 */
export async function removeReferences(
  db: Kysely<Tables>,
  id: number,
  { actor, now, ghostId }: { actor: Actor; now: number; ghostId?: number | undefined },
): Promise<number> {
  return await db.transaction().execute(async (open) => {
    const { slug } = await findOwnRow(open, 'Skill', id, actor);
    const ghosts = (await referrersOf(open, [id])).filter((ghost) => ghostId === undefined || ghost.id === ghostId);
    if (ghosts.length === 0 && ghostId !== undefined) throw notFound();
    for (const ghost of ghosts) {
      // The spec is read under the lock, so that no change of its owner is lost.
      await lockRow(open, ghost.id);
      const row = await open.selectFrom('kinds').select('json').where('id', '=', ghost.id).executeTakeFirst();
      if (row === undefined) continue;
      const spec = JSON.parse(row.json) as GhostSpec;
      const skills = spec.skills.filter((name) => folderId(name).id !== slug);
      await changeRow(open, ghost.id, { json: JSON.stringify({ ...spec, skills }) }, { kind: 'Ghost', now });
      await open.deleteFrom('kind_references').where('from_id', '=', ghost.id).where('to_id', '=', id).execute();
    }
    return ghosts.length;
  });
}
