import type { Expression, ExpressionBuilder, Kysely, Selectable, SqlBool } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { KindRow, Tables } from '../database/tables.ts';
import { notFound, type Viewer } from '../users/tokens.ts';

/** The user that acts. */
export type Actor = Pick<Viewer, 'userId' | 'role'>;

/** The user id of public objects. */
export const PUBLIC = 0;

/** Largest integer of a column. PostgreSQL refuses to compare with a larger one. */
const LARGEST = 2 ** 31 - 1;

/** Options of a list. */
export interface ListOptions {
  /** Rows to leave out at the beginning. */
  skip: number;
  limit: number;
  /** Only objects of this name. */
  name?: string | undefined;
  namespace?: string | undefined;
  /** Only objects of this user; 0 for public ones. */
  owner?: number | undefined;
}

/** Some rows of a list, and the number of all. */
export interface Listed<Item> {
  items: Item[];
  total: number;
}

/** Whether a number can be in a column of integers. */
export function isColumnInteger(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= LARGEST;
}

/** Holds for the rows of `kinds` that a user may read: members read their own and public ones, the others all. */
export function mayRead({ userId, role }: Actor): (eb: ExpressionBuilder<Tables, 'kinds'>) => Expression<SqlBool> {
  return (eb) => (role === 'member' ? eb('kinds.user_id', 'in', [PUBLIC, userId]) : eb.lit(true));
}

/**
 * A row that a user may read.
 *
 * @throws SkillcellError `resource.not-found`, the same for a missing row and for one that the user may not see
 */
export async function findRow(
  db: Kysely<Tables>,
  kind: KindRow['kind'],
  id: number,
  actor: Actor,
): Promise<Selectable<KindRow>> {
  const row = isColumnInteger(id)
    ? await db
        .selectFrom('kinds')
        .selectAll()
        .where('id', '=', id)
        .where('kind', '=', kind)
        .where(mayRead(actor))
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound();
  return row;
}

/**
 * A row that a user may change: its own, and for admins also a public one.
 *
 * @throws SkillcellError `resource.not-found`, `auth.forbidden`, `resource.read-only`
 */
export async function findOwnRow(
  db: Kysely<Tables>,
  kind: KindRow['kind'],
  id: number,
  actor: Actor,
): Promise<Selectable<KindRow>> {
  const row = await findRow(db, kind, id, actor);
  const { userId, role } = actor;
  if (row.user_id !== userId && !(row.user_id === PUBLIC && role === 'admin')) {
    const owner = row.user_id === PUBLIC ? 'only admins change public ones' : 'it belongs to another user';
    throw new SkillcellError('auth.forbidden', `Cannot change the ${kind}: ${owner}.`);
  }
  if (row.read_only === 1)
    throw new SkillcellError('resource.read-only', `Cannot change the ${kind}: it belongs to the package.`);
  return row;
}

/**
 * Inserts a row.
 *
 * @throws SkillcellError `resource.exists` for a name, or a slug, that another object of the owner has
 */
export async function insertRow(
  open: Kysely<Tables>,
  row: Pick<KindRow, 'user_id' | 'kind' | 'namespace' | 'name' | 'json'> & Partial<Selectable<KindRow>>,
  now: number,
): Promise<Selectable<KindRow>> {
  const inserted = await open
    .insertInto('kinds')
    .values({ revision: 1, read_only: 0, created_at: now, updated_at: now, ...row })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted === undefined) throw taken(row.kind, row.name);
  return inserted;
}

/** The error for a name that another object has. */
export function taken(kind: KindRow['kind'], name: string): SkillcellError {
  return new SkillcellError(
    'resource.exists',
    `Cannot create the ${kind}: the name is taken, got ${quotedText(name)}.`,
  );
}

/**
 * Changes a row on top of the revision that the caller has read; without one, on top of any.
 *
 * @throws SkillcellError `resource.changed`
 */
export async function changeRow(
  open: Kysely<Tables>,
  id: number,
  values: Partial<Pick<KindRow, 'json' | 'file_size' | 'file_hash' | 'digest'>>,
  { kind, revision, now }: { kind: KindRow['kind']; revision?: number | undefined; now: number },
): Promise<Selectable<KindRow>> {
  const row = await open
    .updateTable('kinds')
    .set((eb) => ({ ...values, revision: eb('revision', '+', 1), updated_at: now }))
    .where('id', '=', id)
    .$if(revision !== undefined, (query) => query.where('revision', '=', revision ?? 0))
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw changed(kind);
  return row;
}

/** The error for a change on top of an older revision. */
export function changed(kind: KindRow['kind']): SkillcellError {
  return new SkillcellError('resource.changed', `Cannot change the ${kind}: another change was first.`);
}

/**
 * Locks a row until the end of the transaction. PostgreSQL lets other transactions wait for it; their next statement
 * sees the changes of this one.
 *
 * @returns false if the row is gone
 */
export async function lockRow(open: Kysely<Tables>, id: number): Promise<boolean> {
  // SQLite has no `select … for update`. A change to the same value takes the same lock.
  const { numUpdatedRows } = await open
    .updateTable('kinds')
    .set((eb) => ({ revision: eb.ref('revision') }))
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
