import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from '../../registry/database/tables.ts';

/** A replica that was not seen for so long counts as dead. */
export const LEASE_MS = 15_000;
/** Rows of replicas are removed so long after they were last seen. */
const FORGET_MS = 3_600_000;
/** The clocks of hosts differ, so that of the database counts. */
const NOW = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;

/** The rows of replicas that were seen within their lease. */
export function livingReplicas(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'replicas', object> {
  return db.selectFrom('replicas').where('seen_at', '>', sql<number>`${NOW} - ${sql.lit(LEASE_MS)}`);
}

/** Writes that a replica is there. */
export async function seeReplica(db: Kysely<Tables>, { id, url }: { id: string; url: string }): Promise<void> {
  await db
    .insertInto('replicas')
    .values({ id, url, seen_at: NOW })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: NOW }))
    .execute();
}

/** Removes the row of a replica that leaves, and those of long dead ones. */
export async function removeReplicas(db: Kysely<Tables>, id: string): Promise<void> {
  await db
    .deleteFrom('replicas')
    .where((is) => is.or([is('id', '=', id), is('seen_at', '<', sql<number>`${NOW} - ${sql.lit(FORGET_MS)}`)]))
    .execute();
}
