import * as z from 'zod';
import { createToken, deleteToken, listTokens, type TokenInfo } from '../../registry/users/tokens.ts';
import { createUser, listUsers, updateUser, type User } from '../../registry/users/users.ts';
import { SESSION_COOKIE, viewerIn } from '../http/authenticate.ts';
import { idInPath, noContent, problems } from '../schemas/common.ts';
import { notFound } from '../../registry/users/tokens.ts';
import type { App, RouteParts } from './route-options.ts';

const SESSION_MS: number = 12 * 60 * 60 * 1_000;
const roleSchema = z.enum(['admin', 'member', 'viewer']);
const nameSchema = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N}._@ -]{0,99}$/u, 'must be a name of letters, digits and . _ @ -');

const userSchema = z
  .object({ id: z.int(), name: z.string(), role: roleSchema, disabled: z.boolean(), createdAt: z.int() })
  .meta({ id: 'User' });
const tokenFields = {
  id: z.int(),
  name: z.string(),
  readOnly: z.boolean(),
  createdAt: z.int(),
  expiresAt: z.int().nullable(),
};
const tokenSchema = z.object(tokenFields).meta({ id: 'Token' });
const newTokenSchema = z
  .object({ ...tokenFields, token: z.string().meta({ description: 'The token. It cannot be read again.' }) })
  .meta({ id: 'NewToken' });
const meSchema = z
  .object({ id: z.int(), name: z.string(), role: roleSchema, readOnly: z.boolean() })
  .meta({ id: 'Me' });

/** Users, tokens, and sessions of the console. */
export function addUserRoutes(app: App, { database: { db }, now }: RouteParts): void {
  app.get('/me', { schema: { tags: ['users'], response: { 200: meSchema, ...problems } } }, async (request) => {
    const { userId: id, name, role, readOnly } = viewerIn(request);
    return { id, name, role, readOnly };
  });

  app.post(
    '/session',
    {
      config: { access: 'any-user' },
      schema: {
        tags: ['users'],
        description: 'Trades the token of the request for a cookie.',
        response: { 200: meSchema, ...problems },
      },
    },
    async (request, reply) => {
      const { userId, tokenId, name, role, readOnly, expiresAt: tokenEnd } = viewerIn(request);
      const expiresAt = Math.min(now() + SESSION_MS, tokenEnd ?? Number.POSITIVE_INFINITY);
      const { token } = await createToken(
        db,
        { userId, name: 'console', readOnly, expiresAt, parentId: tokenId },
        now(),
      );
      void reply.setCookie(SESSION_COOKIE, token, {
        ...{ httpOnly: true, sameSite: 'strict', path: '/', maxAge: SESSION_MS / 1_000 },
        secure: request.protocol === 'https',
      });
      return { id: userId, name, role, readOnly };
    },
  );

  app.delete(
    '/session',
    { config: { access: 'any-user' }, schema: { tags: ['users'], response: { 204: noContent, ...problems } } },
    async (request, reply) => {
      const { userId, tokenId } = viewerIn(request);
      // The token of a program is no session: it stays.
      await db
        .deleteFrom('tokens')
        .where('id', '=', tokenId)
        .where('user_id', '=', userId)
        .where('parent_id', 'is not', null)
        .execute();
      void reply.clearCookie(SESSION_COOKIE, { path: '/' });
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/users',
    {
      config: { access: 'all-readers' },
      schema: { tags: ['users'], response: { 200: z.array(userSchema), ...problems } },
    },
    async (): Promise<User[]> => await listUsers(db),
  );

  app.post(
    '/users',
    {
      config: { access: 'admin' },
      schema: {
        tags: ['users'],
        body: z.strictObject({ name: nameSchema, role: roleSchema }),
        response: { 201: z.object({ user: userSchema, token: newTokenSchema }), ...problems },
      },
    },
    async ({ body }, reply) => {
      const created = await db.transaction().execute(async (open) => {
        const user = await createUser(open, body, now());
        const token = await createToken(
          open,
          { userId: user.id, name: 'first', readOnly: false, expiresAt: null },
          now(),
        );
        return { user, token };
      });
      return reply.code(201).send(created);
    },
  );

  app.patch(
    '/users/:id',
    {
      config: { access: 'admin' },
      schema: {
        tags: ['users'],
        params: idInPath,
        body: z.strictObject({ role: roleSchema.optional(), disabled: z.boolean().optional() }),
        response: { 200: userSchema, ...problems },
      },
    },
    async ({ params, body }): Promise<User> => await updateUser(db, numberOf(params.id), body),
  );

  app.get(
    '/tokens',
    { schema: { tags: ['users'], response: { 200: z.array(tokenSchema), ...problems } } },
    async (request): Promise<TokenInfo[]> => await listTokens(db, viewerIn(request).userId),
  );

  app.post(
    '/tokens',
    {
      schema: {
        tags: ['users'],
        body: z.strictObject({
          name: nameSchema,
          readOnly: z.boolean().optional(),
          expiresAt: z.int().optional().meta({ description: 'Milliseconds since 1970.' }),
        }),
        response: { 201: newTokenSchema, ...problems },
      },
    },
    async (request, reply) => {
      const { name, readOnly = false, expiresAt = null } = request.body;
      const token = await createToken(db, { userId: viewerIn(request).userId, name, readOnly, expiresAt }, now());
      return reply.code(201).send(token);
    },
  );

  app.delete(
    '/tokens/:id',
    { schema: { tags: ['users'], params: idInPath, response: { 204: noContent, ...problems } } },
    async (request, reply) => {
      await deleteToken(db, viewerIn(request).userId, numberOf(request.params.id));
      return reply.code(204).send(null);
    },
  );
}

/** The number in a path. @throws SkillcellError `resource.not-found` for another text, which names nothing */
export function numberOf(id: string): number {
  if (!/^[1-9]\d{0,8}$/.test(id)) throw notFound();
  return Number(id);
}
