import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../contracts/jobs/result.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import {
  type Runner,
  RUNNER_CONTRACT,
  type RunnerReport,
  type Sandbox,
  type SandboxSpec,
  type StartOptions,
} from '../runner.ts';
import { ensureRuntime } from '../runtime-bundle.ts';
import type { Demand } from './demand.ts';
import { createDemands, type Demands } from './demands.ts';
import { fleetAddress } from './fleet-address.ts';
import { fleetError } from './fleet-error.ts';
import { buildOf, demandQueue, FLEET_NAME, fromWorkerKey, toWorkerKey } from './fleet-keys.ts';
import { readFleetRows } from './fleet-rows.ts';
import { followSandbox } from './fleet-sandbox.ts';
import { type FleetLink, openFleetLink } from './link/fleet-link.ts';
import { createLeaseTable, type Lease, type LeaseTable } from './link/lease-table.ts';
import type { WorkerRow } from './worker-row.ts';

const ACTION = 'create the fleet runner';
/** Pause between two reads of the workers' rows. */
const ROWS_MS = 1_000;
const PATIENCE_MS = 15_000;
const PROBE_MS = 5_000;
/** A start that takes longer tells why. */
const TELL_MS = 10_000;
/** Most time from a taken demand to a ready sandbox. Its worker gives up earlier by itself. */
const READY_MS = 90_000;
/** Workers that a demand is offered to, if their hosts start no sandbox. */
const TRIES = 3;
const LEVELS: readonly Isolation[] = ['container', 'kernel', 'namespace'];

/** Options of {@link createFleetRunner}. */
export interface FleetRunnerOptions {
  /** Address of the Redis of the fleet: `rediss://USER:PASSWORD@HOST:PORT`. It may hold a password, so take it from a file. */
  url: string;
  /** Allows an address of another host without TLS. @default false */
  plain?: boolean;
  /** Workers of this queue take the demands. @default 'default' */
  queue?: string;
  /** Name of the runner, by which jobs choose among several fleets. @default 'fleet' */
  name?: string;
  /** Levels that jobs may get, the default level first. @default container, kernel, namespace */
  levels?: Isolation[];
  /** Demands of this client that wait in the engine at once; further ones wait here. @default 8 */
  window?: number;
  /** Silence of a worker, in milliseconds, after which its sandboxes count as lost. @default 15,000 */
  leaseMs?: number;
  /** Whether a job without a fitting worker is refused, or waits for one. @default 'refuse' */
  emptyFleet?: 'refuse' | 'wait';
  logger?: Logger;
}

const name = z.string().check(z.regex(FLEET_NAME, 'must be 1 to 32 of a-z, 0-9 and -'));
const whole = (least: number, most: number): z.ZodMiniNumber =>
  z.number().check(z.int(), z.minimum(least), z.maximum(most));
const isolation = z.enum(ISOLATION_LEVELS.filter((level) => level !== 'none') as unknown as [string, ...string[]]);
const optionsSchema = z.strictObject({
  url: z.string().check(z.minLength(1)),
  plain: z.optional(z.boolean()),
  queue: z.optional(name),
  name: z.optional(name),
  levels: z.optional(z.array(isolation).check(z.minLength(1))),
  window: z.optional(whole(1, 10_000)),
  leaseMs: z.optional(whole(1_000, 600_000)),
  emptyFleet: z.optional(z.enum(['refuse', 'wait'])),
  logger: z.optional(z.custom((value) => typeof value === 'object' && value !== null, 'must be a pino logger')),
}) as unknown as z.ZodMiniType<FleetRunnerOptions>;

/** An open connection to a fleet, with all that belongs to it. */
interface OpenFleet {
  link: FleetLink;
  table: LeaseTable;
  demands: Demands;
  build: string;
  /** The living workers, at most a second old. */
  rows(): Promise<readonly WorkerRow[]>;
  close(): Promise<void>;
}

/**
 * Creates the runner of a fleet: it runs sandboxes on the hosts whose workers have joined. The job stays here, with its keys, tools and skills; only
 * the bytes of its sandbox travel. Its creation does no I/O.
 *
 * @throws SkillcellError `options.invalid`
 * @example
 * ```ts
 * import { createOrchestrator } from 'skillcell';
 * import { createFleetRunner } from 'skillcell/fleet';
 *
 * const fleet = createFleetRunner({ url: 'redis://127.0.0.1:1' });
 * await using orchestrator = createOrchestrator({ runners: [fleet] });
 * for (const { runner, isolation, available } of await orchestrator.probe()) console.log(runner, isolation, available);
 * // prints: fleet kernel false
 * // prints: fleet container false
 * // prints: fleet namespace false
 * ```
 */
export function createFleetRunner(given: FleetRunnerOptions): Runner {
  const options = checkOptions(optionsSchema, given, { action: ACTION });
  const {
    queue = 'default',
    name: runner = 'fleet',
    levels = LEVELS,
    leaseMs = 15_000,
    emptyFleet = 'refuse',
  } = options;
  const address = fleetAddress(options.url, options.plain ?? false);
  const client = randomBytes(16).toString('hex');
  const waiting = createLimiter({ room: options.window ?? 8 });
  const running = new Set<Sandbox>();
  const starting = new Set<Promise<Sandbox>>();
  /** Time when a fitting worker was last seen, by level. */
  const seenAt = new Map<Isolation, number>();
  const closing = new AbortController();
  let opening: Promise<OpenFleet> | undefined;
  /** Sandboxes and starts that keep this process alive. */
  let holds = 0;
  const hold = (fleet: OpenFleet, isHeld: boolean): void => {
    holds += isHeld ? 1 : -1;
    fleet.link.hold(holds > 0);
  };
  const isFitting = (row: WorkerRow): boolean => row.queue === queue && !row.draining;

  const open = async (): Promise<OpenFleet> => {
    if (closing.signal.aborted) throw closed();
    opening ??= openFleet();
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  const openFleet = async (): Promise<OpenFleet> => {
    const { digest } = await ensureRuntime();
    let rows: WorkerRow[] = [];
    let read: Promise<void> | undefined;
    let readAt = Number.NEGATIVE_INFINITY;
    const streams = new Map<string, string>();
    const table: LeaseTable = createLeaseTable({
      link: () => link,
      streamTo: toWorkerKey,
      downMs: Number.POSITIVE_INFINITY,
    });
    const link = await openFleetLink({
      address,
      streams: () => (table.size > 0 ? [...streams.keys()] : []),
      take(stream, entry) {
        const worker = streams.get(stream);
        if (worker !== undefined && entry.client === client) table.take(worker, entry);
      },
      mostBytes: (stream) => table.mostBytes(streams.get(stream) ?? ''),
      onFault: (stream, reason) => table.lose(streams.get(stream) ?? '', `its stream was deleted, as ${reason}`),
      onUp: () => table.beat(),
      onTrouble: (error) => options.logger?.warn({ err: error }, 'the fleet is not reached'),
    });
    const readRows = async (): Promise<void> => {
      rows = await readFleetRows(link.redis);
      readAt = performance.now();
      // Streams of a worker that has gone are read for as long as its sandboxes may speak.
      const living = new Set(rows.map((row) => row.name));
      for (const [stream, worker] of streams) if (!living.has(worker) && !table.knows(worker)) streams.delete(stream);
      for (const worker of living) streams.set(fromWorkerKey(worker, client), worker);
      link.wake();
    };
    const refresh = (): Promise<void> => (read ??= readRows().finally(() => (read = undefined)));
    const polling = setInterval(() => {
      // Only a taken demand brings entries of a new worker.
      if (link.isUp && table.size > 0) refresh().catch(() => undefined);
    }, ROWS_MS).unref();
    const demands = createDemands(link.redis);
    return {
      ...{ link, table, demands, build: buildOf(digest) },
      async rows() {
        if (performance.now() - readAt > 2 * ROWS_MS) await refresh();
        return rows;
      },
      async close() {
        clearInterval(polling);
        table.close();
        await demands.close();
        await link.close();
      },
    };
  };

  const connected = async (signal: AbortSignal, patienceMs: number): Promise<OpenFleet> => {
    const fleet = await open();
    hold(fleet, true);
    try {
      await fleet.link.connected({ signal, patienceMs });
      return fleet;
    } finally {
      hold(fleet, false);
    }
  };
  /** Whether a level has a worker. Throws if it has no worker that is worth waiting for. */
  const hasWorker = async (fleet: OpenFleet, level: Isolation): Promise<boolean> => {
    const fitting = (await fleet.rows()).filter(isFitting);
    const now = performance.now();
    const isThere = fitting.some((row) => row.isolation === level && row.build === fleet.build);
    if (isThere) seenAt.set(level, now);
    if (isThere) return true;
    const seen = seenAt.get(level);
    // The row of a worker may be lost with all that Redis holds, and comes back within a lease.
    if (seen !== undefined && now - Math.max(seen, fleet.link.upSince) <= leaseMs) return false;
    throw noWorker(queue, level, fleet.build, fitting);
  };
  /** Waits for a worker of a level, or refuses. */
  const requireWorker = async (fleet: OpenFleet, level: Isolation, signal: AbortSignal): Promise<void> => {
    try {
      while (!(await withinDeadline(hasWorker(fleet, level), { signal })))
        await pause(ROWS_MS, undefined, { signal, ref: false });
    } catch (error) {
      signal.throwIfAborted();
      throw fleetError('start a sandbox', address.shown, error);
    }
  };
  /** Aborts with the reason when the workers of a level are gone, until the signal aborts. */
  const watchWorkers = (fleet: OpenFleet, level: Isolation, until: AbortSignal): AbortSignal => {
    const none = new AbortController();
    const watch = async (): Promise<void> => {
      while (!until.aborted) {
        await hasWorker(fleet, level).catch((error: unknown) => {
          // Without a connection there is no news of workers.
          if (!until.aborted && SkillcellError.isInstance(error)) none.abort(error);
        });
        await pause(ROWS_MS, undefined, { signal: until, ref: false }).catch(() => undefined);
      }
    };
    void watch();
    return none.signal;
  };

  const start = async (spec: SandboxSpec, { signal, onWaiting }: StartOptions): Promise<Sandbox> => {
    if (!levels.includes(spec.isolation)) {
      const message = `Cannot start a sandbox: the fleet has the levels ${levels.join(', ')}, got ${spec.isolation}.`;
      throw new SkillcellError('runner.isolation-unmet', message);
    }
    const either = AbortSignal.any([signal, closing.signal]);
    const fleet = await open();
    hold(fleet, true);
    const tell = (): void => onWaiting?.(`all slots of the queue ${queue} are taken`);
    const telling = setTimeout(tell, TELL_MS).unref();
    try {
      await fleet.link.connected({ signal: either, patienceMs: PATIENCE_MS });
      await requireWorker(fleet, spec.isolation, either);
      return await place(fleet, spec, either);
    } catch (error) {
      if (closing.signal.aborted && !signal.aborted) throw closed();
      throw error;
    } finally {
      clearTimeout(telling);
      hold(fleet, false);
    }
  };
  const place = async (fleet: OpenFleet, spec: SandboxSpec, given: AbortSignal, tries = 1): Promise<Sandbox> => {
    const { table, demands, build } = fleet;
    let lease: Lease | undefined;
    const current = (): Lease => lease as Lease;
    let followed = followSandbox(current, spec.isolation);
    const over = new AbortController();
    const renew = (): Demand => {
      lease?.forget();
      followed = followSandbox(current, spec.isolation);
      followed.taken.addEventListener('abort', () => over.abort(), { once: true });
      lease = table.open({ id: randomBytes(16).toString('hex'), client, peer: undefined, leaseMs }, followed.calls);
      fleet.link.wake();
      return { lease: lease.id, leaseMs, client, language: spec.language, limits: spec.limits };
    };
    const leave = await waiting.enter({ signal: given });
    const none = watchWorkers(fleet, spec.isolation, AbortSignal.any([over.signal, given]));
    const signal = AbortSignal.any([given, none]);
    try {
      const name = demandQueue(queue, spec.isolation, build);
      await demands.place({ queue: name, renew, taken: over.signal, canceled: signal });
      leave?.();
      const opened = await withinDeadline(followed.opened, { signal, limitMs: READY_MS, overdue: throwOverdue });
      const sandbox = followed.sandbox(current(), opened, { runner, leaseMs, hold: (isHeld) => hold(fleet, isHeld) });
      running.add(sandbox);
      void sandbox.exited.then(() => running.delete(sandbox));
      return sandbox;
    } catch (error) {
      lease?.kill('its start was canceled');
      lease?.forget();
      // The worker has announced by now that it takes no demands.
      if (followed.isUnfit && tries < TRIES && !signal.aborted) return await place(fleet, spec, given, tries + 1);
      throw error;
    } finally {
      over.abort();
      leave?.();
    }
  };

  const probe = async (signal: AbortSignal): Promise<RunnerReport[]> => {
    let rows: readonly WorkerRow[] = [];
    let reason: string | undefined;
    let build = '';
    let held: OpenFleet | undefined;
    try {
      held = await connected(signal, PROBE_MS);
      hold(held, true);
      build = held.build;
      rows = (await held.rows()).filter(isFitting);
    } catch (error) {
      signal.throwIfAborted();
      reason = error instanceof Error ? error.message : String(error);
    } finally {
      if (held !== undefined) hold(held, false);
    }
    return levels
      .map((level): RunnerReport => {
        const row = rows.find((each) => each.isolation === level && each.build === build);
        const reasons = row === undefined ? [reason ?? noWorker(queue, level, build, rows).message] : [];
        return { runner, isolation: level, available: row !== undefined, reasons, limits: row?.limits ?? NO_LIMITS };
      })
      .toSorted((a, b) => ISOLATION_LEVELS.indexOf(b.isolation) - ISOLATION_LEVELS.indexOf(a.isolation));
  };

  return {
    name: runner,
    contract: RUNNER_CONTRACT,
    levels,
    isRemote: true,
    async start(spec, options) {
      const started = start(spec, options);
      starting.add(started);
      return await started.finally(() => starting.delete(started));
    },
    ...(emptyFleet === 'refuse' ? {} : { changed: (signal: AbortSignal) => pause(ROWS_MS, undefined, { signal }) }),
    async reach({ signal, patienceMs }) {
      await connected(signal, patienceMs);
    },
    probe: ({ signal = new AbortController().signal } = {}) => probe(signal),
    // Each worker sweeps its own host.
    sweep: async () => ({ removed: [], failed: [] }),
    async close() {
      closing.abort(closed());
      await Promise.allSettled(starting);
      await Promise.all([...running].map((sandbox) => sandbox.kill('the runner is closed')));
      const fleet = await opening?.catch(() => undefined);
      await fleet?.close();
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

const NO_LIMITS: RunnerReport['limits'] = {
  memory: 'none',
  cpus: 'none',
  pids: 'none',
  workspace: 'none',
  inodes: 'none',
};

function throwOverdue(): never {
  const message = `Cannot start a sandbox: its worker had none ready within ${READY_MS / 1_000} s.`;
  throw new SkillcellError('sandbox.lost', message);
}

function closed(): SkillcellError {
  return new SkillcellError('orchestrator.closed', 'Cannot start a sandbox: the runner is closed.');
}

function noWorker(queue: string, level: Isolation, build: string, rows: readonly WorkerRow[]): SkillcellError {
  const names = (some: readonly WorkerRow[], of: (row: WorkerRow) => string): string =>
    [...new Set(some.map(of))].toSorted().join(', ');
  const atLevel = rows.filter((row) => row.isolation === level);
  if (rows.length === 0)
    return new SkillcellError(
      'runner.unavailable',
      `Cannot start a sandbox: no worker of the queue ${queue} is in the fleet.`,
    );
  if (atLevel.length === 0) {
    const message = `Cannot start a sandbox: no worker of the queue ${queue} has level ${level}, only ${names(rows, ({ isolation: own }) => own)}.`;
    return new SkillcellError('runner.isolation-unmet', message);
  }
  const builds = names(atLevel, (row) => row.build);
  const message = `Cannot start a sandbox: the workers of the queue ${queue} have the build ${builds}, and this client has ${build}.`;
  return new SkillcellError('runner.unavailable', message);
}
