import { createHash, randomBytes } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Tables, TokenRow, UserRow } from '../database/tables.ts';

/** The user of a request, by its token. */
export interface Viewer {
  userId: number;
  name: string;
  role: UserRow['role'];
  tokenId: number;
  /** The end of the token in milliseconds since 1970; null for a token without an end. */
  expiresAt: number | null;
  /** Whether the token, or the role, allows no changes. */
  readOnly: boolean;
}

/** A token as its owner sees it later. */
export interface TokenInfo {
  id: number;
  name: string;
  readOnly: boolean;
  createdAt: number;
  expiresAt: number | null;
}

/** Options of a new token. */
export interface NewToken {
  userId: number;
  name: string;
  readOnly: boolean;
  /** Milliseconds since 1970; null for a token without an end. */
  expiresAt: number | null;
  /** The token that a session is traded for. */
  parentId?: number;
}

/** Most tokens of a user, without sessions. */
const MOST_TOKENS = 1_000;
const FORM = /^skc_[A-Za-z0-9_-]{43}$/;

/** A new token: `skc_` and 256 random bits. */
export function randomToken(): string {
  return `skc_${randomBytes(32).toString('base64url')}`;
}

/** The user of a token; undefined if it is unknown or has expired, or if its user is disabled. */
export async function viewerOf(db: Kysely<Tables>, token: string, now: number): Promise<Viewer | undefined> {
  if (!FORM.test(token)) return undefined;
  const row = await db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['users.id', 'users.name', 'users.role', 'tokens.id as token', 'tokens.read_only', 'tokens.expires_at'])
    .where('tokens.hash', '=', hashOf(token))
    .where('users.disabled', '=', 0)
    .executeTakeFirst();
  if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return undefined;
  const { id: userId, name, role, token: tokenId, expires_at: expiresAt } = row;
  return { userId, name, role, tokenId, expiresAt, readOnly: row.read_only === 1 || role === 'viewer' };
}

/**
 * Stores a token, and returns it: it cannot be read again.
 *
 * @throws SkillcellError `quota.exceeded`
 */
export async function createToken(
  db: Kysely<Tables>,
  { userId, name, readOnly, expiresAt, parentId }: NewToken,
  now: number,
  token: string = randomToken(),
): Promise<TokenInfo & { token: string }> {
  if (parentId === undefined && (await listTokens(db, userId)).length >= MOST_TOKENS) {
    throw new SkillcellError('quota.exceeded', `Cannot create the token: a user has at most ${MOST_TOKENS}.`, {
      hint: 'Delete tokens that are not used any more.',
    });
  }
  await db
    .deleteFrom('tokens')
    .where('user_id', '=', userId)
    .where('parent_id', 'is not', null)
    .where('expires_at', '<=', now)
    .execute();
  const { id } = await db
    .insertInto('tokens')
    .values({
      user_id: userId,
      name,
      hash: hashOf(token),
      read_only: readOnly ? 1 : 0,
      parent_id: parentId ?? null,
      created_at: now,
      expires_at: expiresAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, name, readOnly, createdAt: now, expiresAt, token };
}

/** The tokens of a user, without sessions. */
export async function listTokens(db: Kysely<Tables>, userId: number): Promise<TokenInfo[]> {
  const rows = await db
    .selectFrom('tokens')
    .selectAll()
    .where('user_id', '=', userId)
    .where('parent_id', 'is', null)
    .orderBy('id')
    .execute();
  return rows.map(infoOf);
}

/**
 * Deletes a token of a user, and its sessions. Its next request is refused.
 *
 * @throws SkillcellError `resource.not-found`
 */
export async function deleteToken(db: Kysely<Tables>, userId: number, id: number): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('tokens')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
}

/** One message for a missing resource and for one of another user. */
export function notFound(): SkillcellError {
  return new SkillcellError('resource.not-found', 'Cannot find the resource: you may see no resource with this id.');
}

function infoOf(row: Selectable<TokenRow>): TokenInfo {
  const { id, name, read_only, created_at, expires_at } = row;
  return { id, name, readOnly: read_only === 1, createdAt: created_at, expiresAt: expires_at };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
