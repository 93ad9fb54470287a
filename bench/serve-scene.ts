import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../src/jobs/create-logger.ts';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import type { Database } from '../src/registry/database/database.ts';
import { type DatabasePlace, openDatabase } from '../src/registry/database/open-database.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import { openService } from '../src/server/open-service.ts';
import { startPostgres } from '../test/fixtures/postgres.ts';
import type { BenchmarkOptions } from './benchmark-group.ts';
import type { Measurement } from './measurement.ts';

/** The databases of the service. */
export const SYSTEMS = ['sqlite', 'postgres'] as const;
export type System = (typeof SYSTEMS)[number];

/** Rows of the group `serve` that share a scene. */
export interface ServePart {
  ids: readonly string[];
  rows(scene: ServeScene, options: BenchmarkOptions): Promise<Measurement[]>;
}

/** Where services and databases are opened, with one orchestrator for all, which has a pool. */
export interface ServeScene extends AsyncDisposable {
  orchestrator: Orchestrator;
  /** An empty database, and a folder. */
  place(system: System): Promise<DatabasePlace>;
  /** @param at by default a new place */
  service(system: System, at?: DatabasePlace): Promise<BenchService>;
  /** A database of the service without a service. */
  database(system: System): Promise<Database>;
}

/** A service in this process. */
export interface BenchService {
  folder: string;
  url: string;
  /** Requests a path below `/api/v1` as the first admin. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

const CONCURRENCY = 2;

export function serveScene(): ServeScene {
  const cleanUp = new AsyncDisposableStack();
  const pool = { size: CONCURRENCY };
  const orchestrator = cleanUp.use(
    createOrchestrator({ runners: [createLocalRunner()], concurrency: CONCURRENCY, pool }),
  );
  let postgres: ReturnType<typeof startPostgres> | undefined;
  let databases = 0;
  const place = async (system: System): Promise<DatabasePlace> => {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-serve-'));
    cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
    if (system === 'sqlite') return { folder, url: undefined };
    postgres ??= startPostgres().then((server) => cleanUp.use(server));
    return { folder, url: (await postgres).create(`bench${(databases += 1)}`) };
  };
  return {
    orchestrator,
    place,
    async service(system, at) {
      const { folder, url } = at ?? (await place(system));
      const open = await openService({
        ...{ folder, databaseUrl: url, host: '127.0.0.1', port: 0, allowHosts: [], behindProxy: false },
        ...{ concurrency: CONCURRENCY, maxWaiting: 1_000, keepDays: 30, logger: createLogger({ level: 'error' }) },
        start: (job, options) => orchestrator.stream(job as Parameters<Orchestrator['stream']>[0], options),
      });
      const close = (): Promise<void> => open.close(0);
      cleanUp.defer(close);
      const authorization = `Bearer ${readFileSync(join(folder, 'admin-token'), 'utf8').trim()}`;
      return {
        ...{ folder, url: open.url, close },
        fetch: (path, init = {}) =>
          fetch(`${open.url}/api/v1${path}`, { ...init, headers: { authorization, ...(init.headers as object) } }),
      };
    },
    async database(system) {
      return cleanUp.use(await openDatabase(await place(system)));
    },
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
