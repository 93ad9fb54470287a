import type { Job } from 'bullmq';
import { availableParallelism, hostname, totalmem } from 'node:os';
import type { Logger } from 'pino';
import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { DEFAULT_LIMITS } from '../contracts/jobs/limits.ts';
import { ISOLATION_LEVELS, type Isolation } from '../contracts/jobs/result.ts';
import { startRegularSweep } from '../jobs/regular-sweep.ts';
import { createSandboxSupply } from '../jobs/supply/sandbox-supply.ts';
import { languageNames } from '../languages/languages.ts';
import { demandSchema, ENGINE, type Demand } from '../sandboxes/fleet/demand.ts';
import { fleetAddress } from '../sandboxes/fleet/fleet-address.ts';
import {
  buildOf,
  demandQueue,
  drainKey,
  fleetNameSchema,
  fromWorkerKey,
  KEY_PREFIX,
  toWorkerKey,
  WORKERS_KEY,
} from '../sandboxes/fleet/fleet-keys.ts';
import { fleetError, throwRefusal } from '../sandboxes/fleet/fleet-error.ts';
import { keepChecked } from '../sandboxes/fleet/link/connection-life.ts';
import { openFleetLink } from '../sandboxes/fleet/link/fleet-link.ts';
import { createLeaseTable } from '../sandboxes/fleet/link/lease-table.ts';
import { ROW_MS } from '../sandboxes/fleet/worker-rows.ts';
import type { Runner } from '../sandboxes/runner.ts';
import { ensureRuntime } from '../sandboxes/runtime-bundle.ts';
import { type Announced, announceWorker } from './announce-worker.ts';
import { createHostHealth } from './host-health.ts';
import { serveLease, type ServedLease } from './serve-lease.ts';
import { watchStalledCheck } from './watch-stalled-check.ts';

const ACTION = 'create the fleet worker';
const MIB = 1024 * 1024;
/** Sandboxes of a worker end so long after its connection. */
const DOWN_MS = 120_000;
/** Clients read the rows of workers each second, and must read the stream of a new worker before it writes. */
const KNOWN_MS = 2_000;
/** Pause between two signs of life of the engine's connection. */
const ENGINE_PING_MS = 10_000;
/** Time of one try to connect. */
const PATIENCE_MS = 60_000;

/** Options of {@link createFleetWorker}. */
export interface FleetWorkerOptions {
  /** Address of the Redis of the fleet: `rediss://USER:PASSWORD@HOST:PORT`. */
  url: string;
  /** Allows an address of another host without TLS. @default false */
  plain?: boolean;
  /** Demands of this queue are taken. @default 'default' */
  queue?: string;
  /** Name of this worker in the fleet. @default the name of the machine */
  name?: string;
  /** Starts the sandboxes. The worker closes it. */
  runner: Runner;
  /** Level of the sandboxes. @default the first level of the runner */
  isolation?: Isolation;
  /** Most sandboxes at once. @default twice the processors, as far as the memory of the machine allows */
  slots?: number;
  /** Sandboxes that wait ahead of demands, each with the default limits. @default 0 */
  pool?: number;
  /** Most memory and processors that a demand may ask for. @default no limit but those of jobs */
  maxMemoryMib?: number;
  maxCpus?: number;
  logger?: Logger;
}

const whole = (least: number, most: number): z.ZodMiniNumber =>
  z.number().check(z.int(), z.minimum(least), z.maximum(most));
const object = (...methods: string[]): z.ZodMiniType =>
  z.custom(
    (value) => typeof value === 'object' && value !== null && methods.every((method) => method in value),
    `must have ${methods.join(', ')}`,
  );
const optionsSchema = z.strictObject({
  url: z.string().check(z.minLength(1)),
  plain: z.optional(z.boolean()),
  queue: z.optional(fleetNameSchema),
  name: z.optional(fleetNameSchema),
  runner: object('start', 'probe', 'sweep', 'close'),
  isolation: z.optional(z.enum(ISOLATION_LEVELS as unknown as [string, ...string[]])),
  slots: z.optional(whole(1, 10_000)),
  pool: z.optional(whole(0, 1_000)),
  maxMemoryMib: z.optional(whole(1, 1_000_000_000)),
  maxCpus: z.optional(z.number().check(z.minimum(0.01), z.maximum(100_000))),
  logger: z.optional(object('info', 'warn', 'error')),
}) as unknown as z.ZodMiniType<FleetWorkerOptions>;

/** A worker that has joined a fleet. */
export interface FleetWorker extends AsyncDisposable {
  readonly name: string;
  readonly queue: string;
  /** First digits of the digest of its runtime. Clients of another build do not use it. */
  readonly build: string;
  readonly isolation: Isolation;
  readonly slots: number;
  /** Sandboxes that it runs now. */
  readonly running: number;
  /** Aborts when someone has asked this worker to drain. */
  readonly asked: AbortSignal;
  /** Takes no further demand, and resolves when no sandbox is left. */
  drain(): Promise<void>;
  /** Ends its sandboxes, whose clients start them elsewhere, and leaves the fleet. Idempotent. */
  close(): Promise<void>;
}

/**
 * Joins a fleet: starts one sandbox as a probe, registers, and serves the demands of clients until it is closed.
 *
 * @throws SkillcellError `options.invalid`, also if a living worker has the name; `runner.isolation-unmet`, `fleet.refused`; the reason of the signal
 * @example
 * ```ts
 * import { createLocalRunner } from 'skillcell';
 * import { createFleetWorker } from 'skillcell/fleet';
 *
 * const signal = AbortSignal.timeout(2_000);
 * const joining = createFleetWorker({ url: 'redis://127.0.0.1:1', runner: createLocalRunner() }, { signal });
 * await joining.catch((error: Error) => console.log(error.name));
 * // prints: TimeoutError
 * ```
 */
export async function createFleetWorker(
  given: FleetWorkerOptions,
  { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
): Promise<FleetWorker> {
  const options = checkOptions(optionsSchema, given, { action: ACTION });
  const { queue = 'default', runner, logger } = options;
  const worker = options.name ?? machineName();
  const address = fleetAddress(options.url, options.plain ?? false);
  const slots = options.slots ?? defaultSlots();
  const { isolation, limits } = await probeLevel(runner, options.isolation, signal);
  const { digest } = await ensureRuntime();
  const build = buildOf(digest);
  const leases = new Set<ServedLease>();
  const closing = new AbortController();
  let isDraining = false;
  let serving = 0;
  let announced: Announced | undefined;

  const supply = createSandboxSupply({
    runners: [runner],
    allowUnisolated: isolation === 'none',
    pool: { size: options.pool ?? 0, isolation },
    skillCode: false,
    network: true,
    isBusy: () => serving > 0,
    onFailure: (error) => logger?.warn({ err: error }, 'a warm sandbox could not be started or ended'),
  });
  const endSweep = startRegularSweep({ runners: [runner], intervalMs: 60_000, log: logger });
  const table = createLeaseTable({
    link: () => link,
    streamTo: (client) => fromWorkerKey(worker, client),
    downMs: DOWN_MS,
  });
  const own = toWorkerKey(worker);
  const link = await openFleetLink({
    address,
    streams: () => [own],
    take: (_stream, entry) => table.take(entry.client, entry),
    mostBytes: () => table.mostBytes(),
    onFault: (_stream, reason) => logger?.error({ reason }, 'the stream to this worker was deleted'),
    onUp() {
      table.beat();
      announced?.renew();
    },
    onTrouble: (error) => logger?.warn({ err: error }, 'the fleet is not reached'),
  });
  link.hold(true);

  const host = createHostHealth({
    async probe() {
      await probeLevel(runner, isolation, closing.signal);
    },
    onChange(isHealthy, reason) {
      if (isHealthy) logger?.info('this host starts sandboxes again, so this worker takes demands');
      else logger?.error({ err: reason }, 'this host starts no sandboxes, so this worker takes no demands');
      announced?.renew();
      if (!isHealthy) void engine.pause(true);
      else if (!isDraining) void engine.resume();
    },
    signal: closing.signal,
  });
  const serve = async ({ data }: Pick<Job, 'data'>): Promise<void> => {
    // It was on its way to a worker that leaves; its client adds it again.
    closing.signal.throwIfAborted();
    const demand: Demand = z.parse(demandSchema, data);
    // Before its sandbox is taken: the pool must not start another one beside the job.
    serving += 1;
    const lease = serveLease(demand, {
      ...{ table, supply, host, runner: runner.name, isolation, signal: closing.signal },
      most: { memoryMib: options.maxMemoryMib, cpus: options.maxCpus },
    });
    leases.add(lease);
    await lease.ended;
    leases.delete(lease);
    serving -= 1;
  };
  const row = { name: worker, queue, isolation, build, languages: languageNames(), slots, limits, since: Date.now() };
  const demands = demandQueue(queue, isolation, build);
  try {
    while (!link.isUp)
      await link.connected({ signal, patienceMs: PATIENCE_MS }).catch((error: unknown) => {
        signal.throwIfAborted();
        if (SkillcellError.isInstance(error) && error.code === 'fleet.refused') throw error;
      });
    // Without these rights no client would find it or could ask it to drain, and it would take nothing.
    await Promise.all([
      link.redis.sadd(WORKERS_KEY, worker),
      link.redis.get(drainKey(worker)),
      link.redis.exists(`${KEY_PREFIX}:${demands}:meta`),
    ]).catch(throwRefusal);
    announced = await announceWorker({
      redis: link.redis,
      leaseMs: ROW_MS,
      row: () => ({ ...row, running: leases.size, draining: isDraining || !host.isHealthy, at: Date.now() }),
      onTaken() {
        logger?.error({ worker }, 'another worker has joined the fleet by this name, so this one leaves');
        void leave();
      },
      signal,
    });
  } catch (error) {
    table.close();
    await Promise.all([supply.close(), endSweep(), link.close()]);
    signal.throwIfAborted();
    throw fleetError('join the fleet', address.shown, error);
  }
  const { asked, renew, leave: removeRow } = announced;
  const { Worker } = await import('bullmq');
  const { Redis } = await import('ioredis');
  const engineConnection = new Redis(address.url, {
    disableClientInfo: true,
    maxRetriesPerRequest: null,
    retryStrategy: (tries) => Math.min(tries * 50, 1_000),
  });
  engineConnection.on('error', () => undefined);
  const endPings = keepChecked(engineConnection, ENGINE_PING_MS);
  const engine = new Worker(demands, serve, {
    ...ENGINE,
    connection: engineConnection,
    prefix: KEY_PREFIX,
    autorun: false,
    concurrency: slots,
    skipVersionCheck: true,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 1_000 },
  });
  engine.on('error', (error) => logger?.debug({ err: error }, 'the engine has an error'));
  const endWatch = watchStalledCheck(link.redis, demands, () => {
    if (!isDraining) void engine.startStalledCheckTimer().catch(() => undefined);
  });
  const begin = setTimeout(() => {
    if (!isDraining) engine.run().catch((error: unknown) => logger?.error({ err: error }, 'the engine has stopped'));
  }, KNOWN_MS);

  const stopTaking = async (): Promise<void> => {
    isDraining = true;
    clearTimeout(begin);
    renew();
    await engine.pause(true);
  };
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await stopTaking().catch(() => undefined);
    closing.abort(new Error('the worker leaves'));
    await Promise.all([...leases].map((lease) => lease.leave()));
    await removeRow();
    await engine.close(true).catch(() => undefined);
    endPings();
    endWatch();
    engineConnection.disconnect();
    table.close();
    await Promise.all([supply.close(), endSweep(), link.close()]);
    await runner.close();
  };
  const leave = (): Promise<void> => (closed ??= close());
  return {
    ...{ name: worker, queue, build, isolation, slots },
    get running() {
      return leases.size;
    },
    asked,
    async drain() {
      await stopTaking();
      while (leases.size > 0) await Promise.race([...leases].map((lease) => lease.ended));
    },
    close: leave,
    [Symbol.asyncDispose]: leave,
  };
}

/** The level, and how its limits are enforced here, by one started sandbox. */
async function probeLevel(
  runner: Runner,
  asked: Isolation | undefined,
  signal: AbortSignal,
): Promise<{ isolation: Isolation; limits: Awaited<ReturnType<Runner['probe']>>[number]['limits'] }> {
  const reports = await runner.probe({ signal });
  const isolation = asked ?? runner.levels[0];
  const report = reports.find((row) => row.isolation === isolation);
  if (report?.available === true) return { isolation: report.isolation, limits: report.limits };
  const reason = report?.reasons.join('; ') ?? `the runner ${runner.name} has no such level`;
  const message = `Cannot join the fleet: level ${isolation} is not met: ${reason.replace(/\.$/, '')}.`;
  throw new SkillcellError('runner.isolation-unmet', message);
}

/** Twice the processors, as far as each default sandbox finds its memory. */
function defaultSlots(): number {
  const byMemory = Math.floor(totalmem() / MIB / DEFAULT_LIMITS.memoryMib);
  return Math.max(1, Math.min(2 * availableParallelism(), byMemory));
}

function machineName(): string {
  const plain = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-');
  return plain.slice(0, 32) || 'worker';
}
