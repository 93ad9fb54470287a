import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './route-options.ts';

/** The place in `index.html` that each answer fills with a nonce of its own. */
const NONCE_PLACE = /CSP_NONCE/g;

/** Addresses that are no views of the console. */
const NO_VIEW = /^\/(?:api|assets)(?:[/?]|$)/;

/** The page of the console, for all addresses of its views. */
export interface ConsolePage {
  send(reply: FastifyReply): FastifyReply;
}

/**
 * Serves the files of the console.
 *
 * @param folder the built console
 */
export async function addConsole(app: App, folder: string): Promise<ConsolePage> {
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  await app.register(fastifyStatic, { root: join(folder, 'assets'), serve: false });
  // The names of these files hold their digests.
  const kept = { immutable: true, maxAge: '365d' };
  app.get('/assets/*', { config: { access: 'anyone' }, schema: { hide: true } }, (request, reply) =>
    reply.sendFile((request.params as { '*': string })['*'], kept),
  );
  return {
    send(reply) {
      const nonce = randomBytes(16).toString('base64url');
      void reply.header('content-security-policy', policyWith(nonce)).header('cache-control', 'no-store');
      return reply.code(200).type('text/html; charset=utf-8').send(page.replaceAll(NONCE_PLACE, nonce));
    },
  };
}

/**
 * The address of a request. A path of the console that cannot be decoded, such as `/jobs/%FF`, is taken as its plain text: it names nothing, and
 * its page says so.
 */
export function decodableUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  if (NO_VIEW.test(url)) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURI(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

/** Whether a request asks for a view of the console: a browser opens an address that no route has, outside the API. */
export function isPageRequest({ is404, method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return is404 && isRead && !NO_VIEW.test(url) && /\btext\/html\b/.test(headers.accept ?? '');
}

/** Only scripts of this origin run. Styles that scripts insert carry the nonce. A frame has the policy of its own answer. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
