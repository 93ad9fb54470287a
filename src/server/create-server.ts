import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import fastify, { LogController, type FastifyBaseLogger, type FastifyRequest } from 'fastify';
import { createJsonSchemaTransform, jsonSchemaTransformObject, serializerCompiler } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import * as z from 'zod';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { packageVersion } from '../contracts/package-root.ts';
import { authenticate } from './http/authenticate.ts';
import { createBodyRoom } from './http/body-room.ts';
import { guardRequest } from './http/guard.ts';
import { limitConnections } from './http/limit-connections.ts';
import { refuseOtherMethods } from './http/other-methods.ts';
import { parseJsonBodies } from './http/parse-json.ts';
import { problemOf, RequestRefused, sendProblem } from './http/problem.ts';
import { validatorCompiler } from './http/validate.ts';
import { addConsole, type ConsolePage, decodableUrl, isPageRequest } from './routes/console-routes.ts';
import { addEventRoutes } from './routes/event-routes.ts';
import { addFleetRoutes } from './routes/fleet-routes.ts';
import { addJobRoutes } from './routes/job-routes.ts';
import { addKindRoutes } from './routes/kind-routes.ts';
import { addSkillRoutes } from './routes/skill-routes.ts';
import { addOutputRoutes } from './routes/output-routes.ts';
import { stateLost } from '../queue/seams/disk-fault.ts';
import type { App, RouteParts } from './routes/route-options.ts';
import { addUserRoutes } from './routes/user-routes.ts';
import { API_BASE, problems } from './schemas/common.ts';

const BODY_BYTES: number = 1024 * 1024;
/** Bytes of all headers of a request. */
const HEADER_BYTES: number = 16 * 1024;
/** Milliseconds that a client has for the head of a request, and for the whole request. */
const HEAD_MS = 10_000;
const REQUEST_MS = 120_000;
const MOST_CONNECTIONS = 512;
const MOST_PARTS = 1_000;
const FILE_BYTES: number = 32 * 1024 * 1024;
/** Compilers of Zod's schemas, in place of the framework's, of which its types would make them. */
const COMPILERS: object = { buildValidator: () => validatorCompiler, buildSerializer: () => serializerCompiler };

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
  const { allowHosts, behindProxy, consoleFolder, database, ending, logger, now } = options;
  const loggerInstance: FastifyBaseLogger = logger;
  const app: App = fastify({
    loggerInstance,
    // Changes are logged below, and reads are not.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: behindProxy,
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_MS,
    rewriteUrl: decodableUrl,
    forceCloseConnections: true,
    return503OnClosing: false,
    // With these, the framework does not load compilers of its own.
    schemaController: { compilersFactory: COMPILERS },
    http: { maxHeaderSize: HEADER_BYTES, headersTimeout: HEAD_MS, connectionsCheckingInterval: 1_000 },
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
    clientErrorHandler,
  });
  limitConnections(app.server, { most: MOST_CONNECTIONS, headMs: HEAD_MS });
  app.setErrorHandler((error: Error, request, reply) => {
    // Handlers of connections that were cut may go on until the database closes.
    const isEnd = ending.aborted && problemOf(error, request.id).code === 'internal.fault';
    return sendProblem(isEnd ? serviceEnds(error) : error, request, reply);
  });
  let page: ConsolePage | undefined;
  const isPage = (request: FastifyRequest): boolean => page !== undefined && isPageRequest(request);
  app.setNotFoundHandler((request, reply) => {
    if (page !== undefined && isPage(request)) return page.send(reply);
    throw new RequestRefused('resource.not-found', 'Cannot find the resource: there is no such path.');
  });
  parseJsonBodies(app);
  app.decorateRequest('viewer', null);
  app.decorateRequest('uploads', null);
  app.decorateRequest('dropBody', () => undefined);
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
  const admitBody = createBodyRoom();
  app.addHook('onRequest', async (request, reply) => {
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
    if (!isForm) await admitBody(request, reply);
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
      addFleetRoutes(api, options);
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

function serviceEnds(cause: Error): SkillcellError {
  return new SkillcellError('service.unavailable', 'Cannot answer the request: the service is ending.', { cause });
}

const statusSchema = z.object({ status: z.literal('ok') });

function addHealthRoutes(app: App, { database, queue, files, ending }: RouteParts): void {
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
      if (!(await files.isReady())) throw stateLost();
      if (await database.isReady()) return { status: 'ok' as const };
      throw new RequestRefused('database.unavailable', 'Cannot take jobs: the database does not answer.');
    },
  );
}

/** Requests that Node could not read, by its codes. The head is too large with a status of its own. */
const UNREADABLE: Readonly<Record<string, { status: number; refusal: RequestRefused }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    refusal: new RequestRefused(
      'request.too-large',
      `Cannot take the request: its headers may have ${HEADER_BYTES} bytes.`,
    ),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    refusal: new RequestRefused('request.timeout', 'Cannot take the request: it did not come in time.'),
  },
};
const NO_HTTP = {
  status: 400,
  refusal: new RequestRefused('request.invalid', 'Cannot take the request: it is no valid HTTP.'),
};

/** Such a request has no framework yet, and its connection ends. */
function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, refusal } = UNREADABLE[error.code ?? ''] ?? NO_HTTP;
  const body = JSON.stringify({ ...problemOf(refusal, randomUUID()), status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
