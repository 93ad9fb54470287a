import type { FastifyRequest } from 'fastify';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Database } from '../../registry/database/database.ts';
import { viewerOf, type Viewer } from '../../registry/users/tokens.ts';

/** The cookie of the console. */
export const SESSION_COOKIE = 'skillcell_session';

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null;
  }
  interface FastifyContextConfig {
    /**
     * Who may call the route; `all-readers` are admins and viewers.
     *
     * @default 'user', which for other methods than GET and HEAD means one that may change something
     */
    access?: 'anyone' | 'user' | 'any-user' | 'all-readers' | 'admin';
  }
}

/**
 * Finds the user of a request by its token, in the header or in the cookie of the console, and checks the route against it.
 *
 * @throws SkillcellError `auth.required`, `auth.forbidden`
 */
export async function authenticate(request: FastifyRequest, { db }: Database, now: number): Promise<void> {
  const { access = 'user' } = request.routeOptions.config;
  if (access === 'anyone') return;
  const token = tokenOf(request);
  const viewer = token === undefined ? undefined : await viewerOf(db, token, now);
  if (viewer === undefined) {
    throw new SkillcellError('auth.required', 'Cannot take the request: it has no valid token.');
  }
  request.viewer = viewer;
  if (access === 'admin' && viewer.role !== 'admin') throw forbidden('only an admin may do this');
  if (access === 'all-readers' && viewer.role === 'member') throw forbidden('only admins and viewers may do this');
  const isChange = request.method !== 'GET' && request.method !== 'HEAD';
  if (isChange && access !== 'any-user' && viewer.readOnly) throw forbidden('the token may only read');
}

/** The user of a request to a route that needs one. */
export function viewerIn({ viewer }: FastifyRequest): Viewer {
  if (viewer === null) throw new Error('the route needs no user');
  return viewer;
}

/** The refusal of a user who lacks the rights. */
export function forbidden(reason: string): SkillcellError {
  return new SkillcellError('auth.forbidden', `Cannot take the request: ${reason}.`);
}

/** The token of a request. A token in the header comes first. */
export function tokenOf({ headers, cookies }: FastifyRequest): string | undefined {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return headers.authorization === undefined ? cookies[SESSION_COOKIE] : bearer;
}
