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
import type { Demand } from './demand.ts';
import { fleetAddress } from './fleet-address.ts';
import { fleetError } from './fleet-error.ts';
import { demandQueue, fleetNameSchema } from './fleet-keys.ts';
import { followSandbox } from './fleet-sandbox.ts';
import { createFleetWorkers, type LevelOffers, reportLevels } from './fleet-workers.ts';
import type { Lease } from './link/lease-table.ts';
import { type OpenFleet, openFleet, ROWS_MS } from './open-fleet.ts';

const ACTION = 'create the fleet runner';
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

const whole = (least: number, most: number): z.ZodMiniNumber =>
  z.number().check(z.int(), z.minimum(least), z.maximum(most));
const isolation = z.enum(ISOLATION_LEVELS.filter((level) => level !== 'none') as unknown as [string, ...string[]]);
const optionsSchema = z.strictObject({
  url: z.string().check(z.minLength(1)),
  plain: z.optional(z.boolean()),
  queue: z.optional(fleetNameSchema),
  name: z.optional(fleetNameSchema),
  levels: z.optional(z.array(isolation).check(z.minLength(1))),
  window: z.optional(whole(1, 10_000)),
  leaseMs: z.optional(whole(1_000, 600_000)),
  emptyFleet: z.optional(z.enum(['refuse', 'wait'])),
  logger: z.optional(z.custom((value) => typeof value === 'object' && value !== null, 'must be a pino logger')),
}) as unknown as z.ZodMiniType<FleetRunnerOptions>;

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
  const workers = createFleetWorkers(queue, leaseMs);
  const running = new Set<Sandbox>();
  const starting = new Set<Promise<Sandbox>>();
  const closing = new AbortController();
  let opening: Promise<OpenFleet> | undefined;

  const open = (): Promise<OpenFleet> => {
    const made = openFleet({ address, client, logger: options.logger });
    made.catch(() => (opening = undefined));
    return made;
  };
  /** Uses the fleet when there is a connection, and keeps this process alive meanwhile. */
  const withConnection = async <Result>(
    { signal, patienceMs }: { signal: AbortSignal; patienceMs: number },
    use: (fleet: OpenFleet) => Promise<Result>,
  ): Promise<Result> => {
    if (closing.signal.aborted) throw closed();
    opening ??= open();
    const fleet = await opening;
    const release = fleet.hold();
    try {
      await fleet.link.connected({ signal, patienceMs });
      return await use(fleet);
    } finally {
      release();
    }
  };

  const start = async (spec: SandboxSpec, { signal: given, onWaiting }: StartOptions): Promise<Sandbox> => {
    if (!levels.includes(spec.isolation)) {
      const message = `Cannot start a sandbox: the fleet has the levels ${levels.join(', ')}, got ${spec.isolation}.`;
      throw new SkillcellError('runner.isolation-unmet', message);
    }
    const signal = AbortSignal.any([given, closing.signal]);
    const tell = (): void => onWaiting?.(`all slots of the queue ${queue} are taken`);
    const telling = setTimeout(tell, TELL_MS).unref();
    try {
      return await withConnection({ signal, patienceMs: PATIENCE_MS }, async (fleet) => {
        await workers.find(fleet, spec.isolation, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          throw fleetError('start a sandbox', address.shown, error);
        });
        return await place(fleet, spec, signal);
      });
    } catch (error) {
      if (closing.signal.aborted && !given.aborted) throw closed();
      throw error;
    } finally {
      clearTimeout(telling);
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
    const gone = workers.gone(fleet, spec.isolation, AbortSignal.any([over.signal, given]));
    const signal = AbortSignal.any([given, gone]);
    try {
      const name = demandQueue(queue, spec.isolation, build);
      await demands.place({ queue: name, renew, taken: over.signal, canceled: signal });
      leave?.();
      const opened = await withinDeadline(followed.opened, { signal, limitMs: READY_MS, overdue: throwOverdue });
      const sandbox = followed.sandbox(current(), opened, { runner, leaseMs, hold: () => fleet.hold() });
      running.add(sandbox);
      void sandbox.exited.then(() => running.delete(sandbox));
      return sandbox;
    } catch (error) {
      lease?.kill('its start was canceled');
      lease?.forget();
      // The worker has announced by now that it takes no demands.
      if (followed.isHostUnhealthy && tries < TRIES && !signal.aborted)
        return await place(fleet, spec, given, tries + 1);
      throw error;
    } finally {
      over.abort();
      leave?.();
    }
  };

  const probe = async (signal: AbortSignal): Promise<RunnerReport[]> => {
    const report = (offers: LevelOffers): RunnerReport[] => reportLevels(runner, levels, offers);
    try {
      return report(await withConnection({ signal, patienceMs: PROBE_MS }, (fleet) => workers.offers(fleet)));
    } catch (error) {
      signal.throwIfAborted();
      return report(() => (error instanceof Error ? error.message : String(error)));
    }
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
    reach: (options) => withConnection(options, async () => undefined),
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

function throwOverdue(): never {
  const message = `Cannot start a sandbox: its worker had none ready within ${READY_MS / 1_000} s.`;
  throw new SkillcellError('sandbox.lost', message);
}

function closed(): SkillcellError {
  return new SkillcellError('orchestrator.closed', 'Cannot start a sandbox: the runner is closed.');
}
