import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { JobQueue } from '../../queue/job-queue.ts';
import type { JobFiles } from '../../queue/seams/job-files.ts';
import type { JobLog } from '../../queue/seams/job-log.ts';
import type { ListFleetOptions } from '../../sandboxes/fleet/list-fleet.ts';
import type { IncomingFiles } from '../http/incoming-files.ts';
import type { Database } from '../../registry/database/database.ts';

/** The application, with types of requests from their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Parts that routes use. */
export interface RouteParts {
  database: Database;
  queue: JobQueue;
  files: JobFiles;
  log: JobLog;
  incoming: IncomingFiles;
  /** Fleet that runs the sandboxes; undefined without one. */
  fleet?: ListFleetOptions | undefined;
  now: () => number;
  /** Aborts when the service ends: streams and waits end with it. */
  ending: AbortSignal;
}
