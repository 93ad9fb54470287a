import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely, Selectable } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { syncFolder, writeAside } from '../../durable/durable-file.ts';
import type { Tables, UserRow } from '../database/tables.ts';
import { createToken, notFound, randomToken } from './tokens.ts';

/** A user, as answers show it. */
export interface User {
  id: number;
  name: string;
  role: UserRow['role'];
  disabled: boolean;
  createdAt: number;
}

const ADMIN = 'admin';
const TOKEN_FILE = 'admin-token';

/**
 * Creates the first admin of an empty database, and writes its token to a file that only the owner can read.
 *
 * @returns the path of the file; undefined if there are users
 */
export async function createFirstAdmin(db: Kysely<Tables>, folder: string, now: number): Promise<string | undefined> {
  if ((await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined) return undefined;
  // The file is first: a crash after the row would leave an admin without a token.
  const [token, path] = [randomToken(), join(folder, TOKEN_FILE)];
  renameSync(writeAside(folder, `${token}\n`), path);
  syncFolder(folder);
  await db.transaction().execute(async (open) => {
    const { id } = await createUser(open, { name: ADMIN, role: 'admin' }, now);
    await createToken(open, { userId: id, name: 'first start', readOnly: false, expiresAt: null }, now, token);
  });
  return path;
}

/** All users, in order of creation. */
export async function listUsers(db: Kysely<Tables>): Promise<User[]> {
  return (await db.selectFrom('users').selectAll().orderBy('id').execute()).map(userOf);
}

/** @throws SkillcellError `resource.exists` */
export async function createUser(
  db: Kysely<Tables>,
  { name, role }: Pick<User, 'name' | 'role'>,
  now: number,
): Promise<User> {
  const row = await db
    .insertInto('users')
    .values({ name, role, disabled: 0, created_at: now })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return userOf(row);
  throw new SkillcellError(
    'resource.exists',
    `Cannot create the user: the name is taken, got ${JSON.stringify(name)}.`,
  );
}

/**
 * Changes the role of a user, or disables it: its tokens fail from then on.
 *
 * @throws SkillcellError `resource.not-found`, and `resource.read-only` for the last admin
 */
export async function updateUser(
  db: Kysely<Tables>,
  id: number,
  change: { role?: User['role'] | undefined; disabled?: boolean | undefined },
): Promise<User> {
  return await db.transaction().execute(async (open) => {
    // Locks all admins, so that two of them cannot disable each other.
    await open.updateTable('users').set({ role: ADMIN }).where('role', '=', ADMIN).execute();
    const row = await open.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) throw notFound();
    const changed = {
      role: change.role ?? row.role,
      disabled: change.disabled === undefined ? row.disabled : Number(change.disabled),
    };
    const others = await open
      .selectFrom('users')
      .select('id')
      .where('id', '!=', id)
      .where('role', '=', ADMIN)
      .where('disabled', '=', 0)
      .limit(1)
      .execute();
    const isAdmin = changed.role === ADMIN && changed.disabled === 0;
    if (!isAdmin && others.length === 0) {
      throw new SkillcellError('resource.read-only', 'Cannot change the user: it is the last admin.', {
        hint: 'Make another user an admin first.',
      });
    }
    await open.updateTable('users').set(changed).where('id', '=', id).execute();
    return userOf({ ...row, ...changed });
  });
}

function userOf({ id, name, role, disabled, created_at }: Selectable<UserRow>): User {
  return { id, name, role, disabled: disabled === 1, createdAt: created_at };
}
