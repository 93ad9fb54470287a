import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../fixtures/until.ts';
import { createNetwork, type NetworkHost } from './network.ts';
import { type ClusterProcess, startProgram, startRedis } from './cluster-process.ts';

/** A host of the cluster, and the process that runs there now. */
export interface Seat {
  readonly name: string;
  readonly host: NetworkHost;
  /** Folder for temporary files of its processes. */
  readonly temporary: string;
  /** The owners of all its processes up to now. */
  readonly owners: string[];
  /** Whether a fault is under way here. */
  isBusy: boolean;
  /** Starts a process in the place of the one that has ended. */
  start(): void;
  /** Ends the process by a signal, and resolves with its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process says that it is ready. */
  ready(): Promise<void>;
}

/** A fleet, each process of which is on a host of its own. */
export interface Cluster extends AsyncDisposable {
  readonly redis: Seat;
  readonly workers: readonly Seat[];
  readonly clients: readonly Seat[];
  /** Names of the lives of clients that were killed. */
  readonly deadLives: Set<string>;
  /** Folder of the histories of clients. */
  readonly histories: string;
  /** Sends a command to Redis, from its own host, and returns the answer. */
  ask(...command: string[]): string;
}

/** Options of {@link startCluster}. */
export interface ClusterOptions {
  /** Folder of all files. */
  folder: string;
  workers: number;
  clients: number;
  seed: number;
  leaseMs: number;
  /** Called when a process ends by itself. */
  blame(fault: string): void;
}

const SLOTS = 2;
const READY_MS = 120_000;
const JOBS_AT_ONCE = 4;
const REDIS_CLI = '/usr/bin/redis-cli';

/** Starts Redis, the workers and the clients. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, leaseMs, blame } = options;
  const network = createNetwork();
  const seats: Seat[] = [];
  const made = (...names: string[]): string => {
    mkdirSync(join(folder, ...names), { recursive: true });
    return join(folder, ...names);
  };
  const histories = made('histories');
  const deadLives = new Set<string>();

  const seat = (name: string, begin: (host: NetworkHost, around: Around) => ClusterProcess): Seat => {
    const host = network.join(name);
    const temporary = made('hosts', name);
    const log = join(folder, `${name}.log`);
    let current: ClusterProcess | undefined;
    let isMeant = false;
    let saidBefore = 0;
    const self: Seat = {
      ...{ name, host, temporary, owners: [], isBusy: false },
      start() {
        saidBefore = existsSync(log) ? statSync(log).size : 0;
        const started = begin(host, { temporary, log, life: `${name}-${self.owners.length + 1}` });
        current = started;
        isMeant = false;
        self.owners.push(started.owner);
        void started.ended.then((code) => {
          if (!isMeant) blame(`${name} has ended by itself, with ${code}`);
        });
      },
      async end(signal) {
        isMeant = true;
        current?.signal(signal);
        return (await current?.ended) ?? null;
      },
      signal: (signal) => current?.signal(signal),
      ready: async () =>
        await until(() => readFileSync(log).includes('ready\n', saidBefore), `${name}, which gets ready`, READY_MS),
    };
    seats.push(self);
    return self;
  };

  const redis = seat('redis', (host, { temporary, log }) => startRedis(host, temporary, log));
  const url = `redis://${redis.host.address}:6379`;
  const numbered = (count: number, word: string, begin: Parameters<typeof seat>[1]): Seat[] =>
    Array.from({ length: count }, (_, index) => seat(`${word}-${index + 1}`, begin));
  const workers = numbered(options.workers, 'worker', (host, { life, ...files }) => {
    const name = life.slice(0, life.lastIndexOf('-'));
    return startProgram(host, 'worker', { url, plain: true, name, slots: SLOTS }, files);
  });
  let lives = 0;
  const outputs = made('outputs');
  const clients = numbered(options.clients, 'client', (host, { life, ...files }) => {
    lives += 1;
    const seed = options.seed * 1_000 + lives;
    return startProgram(
      host,
      'client',
      { url, life, seed, leaseMs, jobsAtOnce: JOBS_AT_ONCE, histories, outputs },
      files,
    );
  });

  const cluster: Cluster = {
    ...{ redis, workers, clients, deadLives, histories },
    ask: (...command) =>
      execFileSync(redis.host.run[0], [...redis.host.run.slice(1), REDIS_CLI, '-h', redis.host.address, ...command], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(seats.filter(({ owners }) => owners.length > 0).map((each) => each.end('SIGKILL')));
      network[Symbol.dispose]();
    },
  };
  try {
    redis.start();
    await until(() => answers(cluster), 'Redis');
    for (const each of [...workers, ...clients]) each.start();
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
  return cluster;
}

interface Around {
  temporary: string;
  log: string;
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
