import type { FastifyInstance, HTTPMethods } from 'fastify';
import { RequestRefused } from './problem.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Collects the methods of each route, so that other methods can be refused with 405. Call it before the routes are added. */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = known.get(url) ?? new Set();
    known.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
  return () => {
    for (const [url, methods] of [...known]) {
      if (url.includes('*')) continue;
      const allow = [...methods].join(', ');
      app.route({
        method: METHODS.filter((each) => !methods.has(each)),
        url,
        schema: { hide: true },
        config: { access: 'anyone' },
        handler: (request, reply) => {
          void reply.header('allow', allow);
          throw new RequestRefused(
            'request.method',
            `Cannot take the request: ${request.method} is no method of this resource.`,
          );
        },
      });
    }
  };
}
