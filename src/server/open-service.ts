import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { makeFolders } from '../durable/make-folders.ts';
import type { JobStream, JobStreamOptions } from '../jobs/orchestrator.ts';
import type { JobRequest } from '../jobs/request/job-schema.ts';
import { syncPackageSkills } from '../registry/skills/sync-package-skills.ts';
import type { NetworkSettings } from '../jobs/network/network-settings.ts';
import { checkNetwork } from './check-network.ts';
import { openUserSkills, type UserSkills } from './user-skills.ts';
import { openJobQueue, type JobQueueOptions, POLL_MS } from '../queue/job-queue.ts';
import { joinReplicas } from '../queue/replica.ts';
import type { StartJob } from '../queue/run-queued-job.ts';
import { folderFiles } from '../queue/seams/folder-files.ts';
import { folderLog } from '../queue/seams/folder-log.ts';
import type { JobFiles } from '../queue/seams/job-files.ts';
import { localDispatch } from '../queue/seams/local-dispatch.ts';
import { holdFolder } from '../registry/database/hold-folder.ts';
import { openDatabase } from '../registry/database/open-database.ts';
import { createFirstAdmin } from '../registry/users/users.ts';
import { incomingFiles } from './http/incoming-files.ts';
import { createServer, type ServerOptions } from './create-server.ts';

/** Options of {@link openService}. */
export interface ServiceOptions
  extends
    Pick<ServerOptions, 'allowHosts' | 'behindProxy' | 'consoleFolder' | 'fleet'>,
    Pick<JobQueueOptions, 'concurrency' | 'maxWaiting' | 'keepDays'> {
  /** State folder. */
  folder: string;
  /** Address of a PostgreSQL database. @default SQLite in the state folder */
  databaseUrl?: string | undefined;
  host: string;
  /** 0 for a free port. */
  port: number;
  /** This process as one of several with the same PostgreSQL database. @default it has the database alone */
  replica?: ReplicaOptions | undefined;
  /** The network of the orchestrator; undefined without one. */
  network?: NetworkSettings | undefined;
  /** Starts a job of the orchestrator, with the skills of its user or of its team. */
  start(job: JobRequest, options: JobStreamOptions): JobStream;
  logger: Logger;
}

/** One of the processes of a service. */
export interface ReplicaOptions {
  /** Where the others reach this one: scheme, host and port. */
  url: string;
  /** Where the files of jobs are kept, as `s3://BUCKET/PREFIX`. */
  files: string;
}

/** A service that listens. */
export interface Service {
  url: string;
  /** File with the token of the first admin; undefined if the database had users. */
  adminToken: string | undefined;
  /** New jobs are refused. Running ones have this time to end, then they are canceled. */
  close(drainMs: number): Promise<void>;
}

/**
 * Opens a service: its database, its queue and its HTTP server.
 *
 * @throws SkillcellError `database.unavailable`, `database.in-use`, `database.newer`, `service.unavailable` for a port that cannot be used
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { folder, host, port, logger } = options;
  const now = Date.now;
  const jobs = join(folder, 'jobs');
  makeFolders(jobs, 0o700);
  await using opened = new AsyncDisposableStack();
  const { databaseUrl: url, replica: shared } = options;
  const isShared = shared !== undefined;
  // SQLite keeps its own folder.
  if (url !== undefined) opened.defer(await holdFolder(folder));
  const database = opened.use(await openDatabase({ folder, url, isShared }));
  const adminToken = await database.inTurn(async () => {
    const token = await createFirstAdmin(database.db, folder, now());
    await syncPackageSkills(database.db, now());
    return token;
  });
  const openBucket = async (place: string): Promise<(owner: string) => JobFiles> => {
    const { openS3Place } = await import('../library/stores/s3/open-s3-source.ts');
    const { bucketFiles } = await import('../queue/seams/bucket-files.ts');
    const { access, prefix } = await openS3Place(place);
    opened.defer(() => access.close());
    // The files of jobs that an earlier process has left here are in the bucket, or lost.
    await emptyFolder(jobs);
    return (owner) => bucketFiles(jobs, { access, prefix, owner });
  };
  const userSkills = opened.use(openUserSkills(database, folder));
  const start: StartJob = async (job, userId, view, attempt) => {
    const { skills, release } = await userSkills.take(userId, view, job.skills?.consumer);
    try {
      const stream = options.start(job, { ...attempt, skills, skillTools: view.team !== undefined });
      stream.result.then(release, release);
      return stream;
    } catch (error) {
      release();
      throw error;
    }
  };
  const resolve: UserSkills['resolve'] = async (job, userId) => {
    checkNetwork(job, options.network);
    return await userSkills.resolve(job, userId);
  };
  const incoming = incomingFiles(await emptyFolder(join(folder, 'incoming')));
  // First the bucket: if it cannot be opened, the other replicas do not see this one.
  const filesOf = shared && (await openBucket(shared.files));
  const replica = shared && (await joinReplicas(database, shared.url));
  const files = filesOf && replica ? filesOf(replica.id) : folderFiles(jobs);
  const log = folderLog(files);
  const dispatch = localDispatch(isShared ? { pollMs: POLL_MS } : {});
  const queue = opened.use(
    await openJobQueue({ ...options, start, resolve, database, files, log, dispatch, replica, now }),
  );
  const ending = new AbortController();
  const server = await createServer({ ...options, database, queue, files, log, incoming, now, ending: ending.signal });
  opened.defer(() => server.close());
  try {
    await server.listen({ host, port, listenTextResolver: () => 'the service listens' });
  } catch (cause) {
    throw new SkillcellError('service.unavailable', `Cannot listen: ${(cause as Error).message}.`, {
      cause,
      hint: 'Name a port that is free, or 0 for any.',
    });
  }
  const parts = opened.move();
  const { port: bound } = server.server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    adminToken,
    async close(drainMs) {
      // Jobs end while their clients can still read the results; streams and waits end after them.
      await queue.close(drainMs);
      ending.abort();
      logger.info('the service ends');
      await parts.disposeAsync();
    },
  };
}

/** Files of a dead process are removed. */
async function emptyFolder(path: string): Promise<string> {
  await rm(path, { recursive: true, force: true });
  makeFolders(path, 0o700);
  return path;
}
