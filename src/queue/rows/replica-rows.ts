import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from '../../registry/database/tables.ts';

/** A replica that was not seen for so long counts as dead. */
export const LEASE_MS = 15_000;
/** The clocks of hosts differ, so that of the database counts. */
const NOW = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;

const EXPIRED = sql<number>`${NOW} - ${sql.lit(LEASE_MS)}`;

/** The rows of replicas that were seen within their lease. */
export function livingReplicas(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'replicas', object> {
  return db.selectFrom('replicas').where('seen_at', '>', EXPIRED);
}

/**
 * Writes that a replica is there.
 *
 * @returns false if its row was not there: it is new, or others have counted it as dead, and its jobs are theirs
 */
export async function seeReplica(db: Kysely<Tables>, { id, url }: { id: string; url: string }): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('replicas')
    .set({ seen_at: NOW })
    .where('id', '=', id)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  await db.insertInto('replicas').values({ id, url, seen_at: NOW }).execute();
  return false;
}

/**
 * Takes their jobs from dead replicas. The removal of the row of a replica decides that it is dead, so that it learns by its next sign of life, and
 * no sign of life comes between.
 */
export async function buryReplicas(db: Kysely<Tables>): Promise<void> {
  await db
    .with('dead', (open) => open.deleteFrom('replicas').where('seen_at', '<=', EXPIRED).returning('id'))
    .updateTable('jobs')
    .set({ owner: null })
    .where('state', '=', 'running')
    .where((is) =>
      is.or([
        is('owner', 'in', (inner) => inner.selectFrom('dead').select('id')),
        is('owner', 'not in', db.selectFrom('replicas').select('id')),
      ]),
    )
    .execute();
}

/** Removes the row of a replica that leaves. */
export async function removeReplica(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom('replicas').where('id', '=', id).execute();
}
