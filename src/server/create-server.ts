import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import fastify, { LogController, type FastifyBaseLogger, type FastifyRequest } from 'fastify';
import {
  createJsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { Socket } from 'node:net';
import * as z from 'zod';
import { packageVersion } from '../contracts/package-root.ts';
import { authenticate } from './http/authenticate.ts';
import { guardRequest } from './http/guard.ts';
import { refuseOtherMethods } from './http/other-methods.ts';
import { parseJsonBodies } from './http/parse-json.ts';
import { RequestRefused, sendProblem } from './http/problem.ts';
import { addConsole, type ConsolePage, isPageRequest } from './routes/console-routes.ts';
import { addEventRoutes } from './routes/event-routes.ts';
import { addJobRoutes } from './routes/job-routes.ts';
import { addKindRoutes } from './routes/kind-routes.ts';
import { addSkillRoutes } from './routes/skill-routes.ts';
import { addOutputRoutes } from './routes/output-routes.ts';
import type { App, RouteParts } from './routes/route-options.ts';
import { addUserRoutes } from './routes/user-routes.ts';
import { problems } from './schemas/common.ts';

/** Base of the routes. */
export const API_BASE = '/api/v1';
const BODY_BYTES: number = 1024 * 1024;
/** Bytes of all headers of a request. */
const HEADER_BYTES: number = 16 * 1024;
/** Milliseconds that a client has for the head of a request, and for the whole request. */
const HEAD_MS = 10_000;
const REQUEST_MS = 120_000;
const MOST_CONNECTIONS = 512;
const MOST_PARTS = 1_000;
const FILE_BYTES: number = 32 * 1024 * 1024;

/** Options of {@link createServer}. */
export interface ServerOptions extends RouteParts {
  /** Names of this service besides those of the loopback. */
  allowHosts: readonly string[];
  /** Whether a proxy stands in front, whose `X-Forwarded-` headers are right. */
  behindProxy: boolean;
  /** Folder of the built console; without one the service has the API only. */
  consoleFolder?: string | undefined;
  logger: Logger;
}

/** Creates the HTTP server of a service. It listens nowhere yet. */
export async function createServer(options: ServerOptions): Promise<App> {
  const { allowHosts, behindProxy, consoleFolder, database, logger, now } = options;
  const loggerInstance: FastifyBaseLogger = logger;
  const app: App = fastify({
    loggerInstance,
    // Changes are logged below, and reads are not.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: behindProxy,
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_MS,
    forceCloseConnections: true,
    return503OnClosing: false,
    http: { maxHeaderSize: HEADER_BYTES, headersTimeout: HEAD_MS, connectionsCheckingInterval: 1_000 },
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
    clientErrorHandler,
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  endSilentConnections(app);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error: Error, request, reply) => sendProblem(error, request, reply));
  let page: ConsolePage | undefined;
  const isPage = (request: FastifyRequest): boolean => page !== undefined && isPageRequest(request);
  app.setNotFoundHandler((request, reply) => {
    if (page !== undefined && isPage(request)) return page.send(reply);
    throw new RequestRefused('resource.not-found', 'Cannot find the resource: there is no such path.');
  });
  parseJsonBodies(app);
  app.decorateRequest('viewer', null);
  app.decorateRequest('uploads', null);
  await app.register(cookie);
  await app.register(helmet, { strictTransportSecurity: false });
  await app.register(multipart, {
    limits: {
      parts: MOST_PARTS,
      fields: 8,
      files: MOST_PARTS,
      fileSize: FILE_BYTES,
      fieldSize: BODY_BYTES,
      headerPairs: 20,
    },
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'skillcell',
        version: packageVersion(),
        description: 'Sandboxed jobs and a registry of skills. docs/service.md',
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
    transform: createJsonSchemaTransform({}),
    transformObject: jsonSchemaTransformObject,
  });
  const refuseOthers = refuseOtherMethods(app);
  app.addHook('onRequest', async (request) => {
    guardRequest(request, { allowHosts, isPage: isPage(request) });
    if (request.headers['content-encoding'] !== undefined) {
      throw new RequestRefused('request.media-type', 'Cannot take the request: its body is encoded.');
    }
    if (isPage(request)) return;
    await authenticate(request, database, now());
    const { consumes = ['application/json'] } = request.routeOptions.schema ?? {};
    const isForm = /^multipart\//i.test(request.headers['content-type'] ?? '');
    if (isForm && !consumes.includes('multipart/form-data')) {
      throw new RequestRefused('request.media-type', 'Cannot take the request: this resource takes no form.');
    }
  });
  app.addHook('onResponse', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    const { viewer, routeOptions, method, id: requestId, params } = request;
    const route = routeOptions.url;
    logger.info({ requestId, user: viewer?.userId, method, route, params, status: reply.statusCode }, 'change');
  });
  addHealthRoutes(app, options);
  await app.register(
    async (api: App) => {
      addUserRoutes(api, options);
      addJobRoutes(api, options);
      addOutputRoutes(api, options);
      addEventRoutes(api, options);
      addKindRoutes(api, options);
      addSkillRoutes(api, options);
      // The same below /kinds, as in the API that this one follows.
      await api.register(async (kinds: App) => addSkillRoutes(kinds, options), { prefix: '/kinds' });
    },
    { prefix: API_BASE },
  );
  app.get('/openapi.json', { config: { access: 'anyone' }, schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').serializer(JSON.stringify).send(app.swagger()),
  );
  if (consoleFolder !== undefined) page = await addConsole(app, consoleFolder);
  refuseOthers();
  await app.ready();
  return app;
}

/** Node's limit for the head of a request begins with its first byte. */
function endSilentConnections({ server }: App): void {
  const timers = new WeakMap<Socket, NodeJS.Timeout>();
  server.on('connection', (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), HEAD_MS);
    timers.set(socket, timer);
    socket.once('close', () => clearTimeout(timer));
  });
  server.on('request', ({ socket }) => clearTimeout(timers.get(socket)));
}

const statusSchema = z.object({ status: z.literal('ok') });

function addHealthRoutes(app: App, { database, queue, ending }: RouteParts): void {
  const open = { access: 'anyone' } as const;
  app.get(
    '/healthz',
    { config: open, schema: { tags: ['health'], response: { 200: statusSchema, ...problems } } },
    async () => ({ status: 'ok' as const }),
  );
  app.get(
    '/readyz',
    { config: open, schema: { tags: ['health'], response: { 200: statusSchema, ...problems } } },
    async () => {
      if (ending.aborted || queue.isEnding)
        throw new RequestRefused('service.unavailable', 'Cannot take jobs: the service is ending.');
      if (await database.isReady()) return { status: 'ok' as const };
      throw new RequestRefused('database.unavailable', 'Cannot take jobs: the database does not answer.');
    },
  );
}

/** Statuses of requests that Node could not read. Such a request has no id, and its connection ends. */
const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = UNREADABLE[error.code ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
