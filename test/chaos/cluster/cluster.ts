import { execFileSync } from 'node:child_process';
import type Docker from 'dockerode';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../fixtures/until.ts';
import { readHistories } from './cluster-history.ts';
import { connectEngine } from '../../../src/sandboxes/docker/engine/engine.ts';
import { createClock, type HostClock } from './clock.ts';
import { createNetwork, type NetworkHost } from './network.ts';
import {
  type ClusterProcess,
  type ClusterRunner,
  type ProcessPlace,
  startProgram,
  startRedis,
} from './cluster-process.ts';
import type { OtherBuild } from './other-build.ts';
import { type ClusterService, startClusterService } from './service/service-seats.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** A host of the cluster, and the process that runs there now. */
export interface Seat {
  readonly name: string;
  readonly host: NetworkHost;
  /** Folder for temporary files of its processes. */
  readonly temporary: string;
  readonly clock: HostClock;
  /** The disk of a worker: `temporary` and its runtimes are there. */
  readonly disk: SmallDisk | undefined;
  /** The owners of all its processes up to now. */
  readonly owners: string[];
  /** Whether a fault is under way here. */
  isBusy: boolean;
  /** The build of its latest process. */
  readonly build: BuildName;
  /** Whether a process has started here, and was neither ended nor asked to end. */
  readonly isRunning: boolean;
  /** Starts a process in the place of the one that has ended. @param build of it; by default that of the process before */
  start(build?: BuildName): void;
  /** Ends the process by a signal, and resolves with its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Resolves with the exit code of a process that is asked to end in another way. */
  ended(): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process says that it is ready. */
  ready(): Promise<void>;
}

/** Name of a build: this checkout, or a copy of it with another runtime. */
export type BuildName = 'this' | 'other';

/** A fleet, each process of which is on a host of its own. */
export interface Cluster extends AsyncDisposable {
  readonly redis: Seat;
  /** All places of workers. Half of them are empty, for an upgrade, if there is another build. */
  readonly workers: readonly Seat[];
  readonly clients: readonly Seat[];
  /** Names of the lives of clients that were killed. */
  readonly deadLives: Set<string>;
  /** Folder of the histories of clients. */
  readonly histories: string;
  /** Sends a command to Redis, from its own host, and returns the answer. */
  ask(...command: string[]): string;
  /** The service, if there are replicas. */
  readonly service: ClusterService | undefined;
  /** The engine of the containers; undefined if there are none. */
  readonly engine: Docker | undefined;
  /** Sandboxes that were started at a worker, by the histories of clients. */
  startsAt(worker: string): number;
}

/** Options of {@link startCluster}. */
export interface ClusterOptions {
  /** Folder of all files. */
  folder: string;
  workers: number;
  clients: number;
  seed: number;
  leaseMs: number;
  otherBuild: OtherBuild | undefined;
  /** @default 'local' */
  runner?: ClusterRunner | undefined;
  /** Replicas of a service on the same fleet. @default 0 */
  replicas?: number | undefined;
  /** Called when a process ends by itself. */
  blame(fault: string): void;
}

const SLOTS = 2;
const READY_MS = 120_000;
/** In the words of clients and workers, of Redis, and of a service. */
const READY = /^ready$|Ready to accept connections|^skillcell serve listens at /m;
const AGAIN_MS = 1_000;
const JOBS_AT_ONCE = 4;
/** Users of the service. */
const USERS = 2;
const REDIS_CLI = '/usr/bin/redis-cli';
/** Room for two copies of the runtime with its Node, and for sandboxes. */
const DISK_MIB = 512;

/** Starts Redis, the workers and the clients. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, leaseMs, runner = 'local', blame } = options;
  const engine = runner === 'docker' ? await connectEngine() : undefined;
  const network = createNetwork();
  const seats: Seat[] = [];
  const made = (...names: string[]): string => {
    mkdirSync(join(folder, ...names), { recursive: true });
    return join(folder, ...names);
  };
  const histories = made('histories');
  const deadLives = new Set<string>();

  const disks: SmallDisk[] = [];
  const seat: SeatMaker = (name, begin, { hasSmallDisk = false, again } = {}) => {
    const host = network.join(name);
    const home = made('hosts', name);
    const disk = hasSmallDisk ? mountSmallDisk(home, DISK_MIB) : undefined;
    if (disk !== undefined) disks.push(disk);
    const temporary = made('hosts', name, 'tmp');
    const clock = createClock(join(folder, `${name}.clock`));
    const log = join(folder, `${name}.log`);
    let current: ClusterProcess | undefined;
    let isMeant = true;
    let build: BuildName = 'this';
    let saidBefore = 0;
    const ended = async (): Promise<number | null> => {
      isMeant = true;
      return (await current?.ended) ?? null;
    };
    const self: Seat = {
      ...{ name, host, temporary, clock, disk, ended, owners: [], isBusy: false },
      get build() {
        return build;
      },
      get isRunning() {
        return !isMeant;
      },
      start(next = build) {
        build = next;
        saidBefore = existsSync(log) ? statSync(log).size : 0;
        const env = { ...clock.env, TMPDIR: temporary };
        const runtimes = disk && made('hosts', name, 'runtimes');
        const checkout = build === 'this' ? undefined : options.otherBuild?.folder;
        const started = begin(host, {
          log,
          env,
          runtimes,
          checkout,
          temporary,
          life: `${name}-${self.owners.length + 1}`,
        });
        current = started;
        isMeant = false;
        self.owners.push(started.owner);
        void started.ended.then(async (code) => {
          if (isMeant || current !== started) return;
          if (code !== again) return blame(`${name} has ended by itself, with ${code}`);
          await pause(AGAIN_MS);
          if (!isMeant && current === started) self.start();
        });
      },
      async end(signal) {
        current?.signal(signal);
        return await ended();
      },
      signal: (signal) => current?.signal(signal),
      ready: async () =>
        await until(
          () => READY.test(readFileSync(log).subarray(saidBefore).toString('latin1')),
          `${name}, which gets ready`,
          READY_MS,
        ),
    };
    seats.push(self);
    return self;
  };

  const redis = seat('redis', (host, { temporary, ...place }) => startRedis(host, temporary, place));
  const url = `redis://${redis.host.address}:6379`;
  const numbered = (count: number, word: string, begin: Begin, more?: { hasSmallDisk: boolean }): Seat[] =>
    Array.from({ length: count }, (_, index) => seat(`${word}-${index + 1}`, begin, more));
  const places = options.otherBuild === undefined ? options.workers : 2 * options.workers;
  const beginWorker: Begin = (host, { life, ...place }) => {
    const name = life.slice(0, life.lastIndexOf('-'));
    return startProgram(host, 'worker', { url, plain: true, name, slots: SLOTS, runner }, place);
  };
  const workers = numbered(places, 'worker', beginWorker, { hasSmallDisk: true });
  let lives = 0;
  const outputs = made('outputs');
  const clients = numbered(options.clients, 'client', (host, { life, ...place }) => {
    lives += 1;
    const seed = options.seed * 1_000 + lives;
    return startProgram(
      host,
      'client',
      { url, life, seed, leaseMs, jobsAtOnce: JOBS_AT_ONCE, histories, outputs },
      place,
    );
  });

  let service: ClusterService | undefined;
  const cluster: Cluster = {
    ...{ redis, workers, clients, deadLives, histories, engine },
    get service() {
      return service;
    },
    ask: (...command) =>
      execFileSync(redis.host.run[0], [...redis.host.run.slice(1), REDIS_CLI, '-h', redis.host.address, ...command], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    startsAt: (worker) =>
      readHistories(histories).flatMap(({ words }) =>
        words.filter((word) => word.word === 'started' && word.about === worker),
      ).length,
    async [Symbol.asyncDispose]() {
      await Promise.all(seats.filter(({ owners }) => owners.length > 0).map((each) => each.end('SIGKILL')));
      await service?.[Symbol.asyncDispose]();
      for (const disk of disks) disk[Symbol.dispose]();
      network[Symbol.dispose]();
    },
  };
  try {
    redis.start();
    await until(() => answers(cluster), 'Redis');
    for (const each of [...workers.slice(0, options.workers), ...clients]) each.start();
    const { replicas = 0, seed } = options;
    if (replicas > 0)
      service = await startClusterService({ made, network, seat, fleetUrl: url, runner, replicas, users: USERS, seed });
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
  return cluster;
}

/** Makes a host, and says how the process there begins. */
export type SeatMaker = (
  name: string,
  begin: Begin,
  more?: {
    hasSmallDisk?: boolean;
    /** Exit code after which it is started again, as systemd does. */
    again?: number;
  },
) => Seat;

type Begin = (host: NetworkHost, around: Around) => ClusterProcess;

interface Around extends ProcessPlace {
  temporary: string;
  life: string;
}

/** Whether Redis answers on its own host. */
function answers(cluster: Cluster): boolean {
  try {
    return cluster.ask('PING').startsWith('PONG');
  } catch {
    // It has not started.
    return false;
  }
}
