import { setTimeout as pause } from 'node:timers/promises';
import { drainKey } from '../../../src/sandboxes/fleet/fleet-keys.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Cluster, Seat } from './cluster.ts';
import { planWrongClock } from './clock.ts';
import { replaceReplica } from './service/replace-replica.ts';

/** Kinds of faults. */
export const CLUSTER_FAULTS = [
  'kill-worker',
  'kill-client',
  'kill-redis',
  'flush-redis',
  'stop-worker',
  'cut-link',
  'worker-leaves',
  'clock-of-worker',
  'clock-of-client',
  'clock-of-redis',
  'full-disk',
  'drain-workers',
  'upgrade',
] as const;

/** A kind of fault. */
export type ClusterFault = (typeof CLUSTER_FAULTS)[number];

/** Kinds of faults for which no attempt of a job may be lost. */
export const HARMLESS_FAULTS: ReadonlySet<ClusterFault> = new Set<ClusterFault>([
  'full-disk',
  'clock-of-worker',
  'clock-of-client',
  'clock-of-redis',
  'drain-workers',
  'upgrade',
]);

/** Kinds of faults that take the whole fleet. */
export const FLEET_FAULTS: ReadonlySet<ClusterFault> = new Set<ClusterFault>(['drain-workers', 'upgrade']);

/** A fault that has its place and its times. */
export interface PlannedFault<Kind extends string = ClusterFault> {
  kind: Kind;
  /** Its place and its times, for the history. */
  about: string;
  /** Injects it, and resolves when all is well there again. */
  inject(): Promise<void>;
}

/** The end of a worker that was asked to leave, and of a client that takes no more jobs. */
const LEAVES_MS = 60_000;
/** A worker whose disk has room again runs a job. */
const RECOVERS_MS = 60_000;
/** A request to drain may be lost with all that Redis holds. */
const ASK_MS = 1_000;

/** Plans a fault at a place that has no fault; undefined if every place has one. */
export function planFault(
  kind: ClusterFault,
  cluster: Cluster,
  random: SeededRandom,
  { leaseMs, blame }: FaultOptions,
): PlannedFault | undefined {
  const { redis, workers, clients } = cluster;
  const free = (seats: readonly Seat[]): Seat | undefined => {
    const [first, ...rest] = seats.filter(({ isBusy, isRunning }) => isRunning && !isBusy);
    return first && random.pick([first, ...rest]);
  };
  const leases = (least: number, most: number): number => Math.round((random.between(least, most) / 10) * leaseMs);
  const during = (seats: readonly Seat[], about: string, run: () => Promise<void>): PlannedFault => ({
    kind,
    about: `${kind} ${about}`,
    async inject() {
      for (const seat of seats) seat.isBusy = true;
      await run().finally(() => seats.forEach((seat) => (seat.isBusy = false)));
    },
  });
  const at = (seat: Seat | undefined, about: string, run: (seat: Seat) => Promise<void>): PlannedFault | undefined =>
    seat && during([seat], `${seat.name} ${about}`, async () => await run(seat));
  /** Those of all places of a kind, unless one of them has a fault. */
  const all = (seats: readonly Seat[]): readonly Seat[] | undefined =>
    seats.some(({ isBusy }) => isBusy) ? undefined : seats;

  switch (kind) {
    case 'kill-worker':
    case 'kill-redis':
    case 'kill-client': {
      const waitMs = leases(0, 25);
      const seats = { 'kill-worker': workers, 'kill-redis': [redis], 'kill-client': clients }[kind];
      return at(free(seats), `for ${waitMs} ms`, async (seat) => {
        if (kind === 'kill-client') cluster.deadLives.add(`${seat.name}-${seat.owners.length}`);
        await seat.end('SIGKILL');
        await pause(waitMs);
        seat.start();
      });
    }
    case 'flush-redis':
      return at(free([redis]), '', async (seat) => {
        await seat.ready();
        cluster.ask('FLUSHALL');
      });
    case 'stop-worker': {
      const waitMs = leases(12, 25);
      return at(free(workers), `for ${waitMs} ms`, async (seat) => {
        seat.signal('SIGSTOP');
        await pause(waitMs);
        seat.signal('SIGCONT');
      });
    }
    case 'cut-link': {
      const waitMs = random.pick([0.6, 2.5]) * leaseMs;
      const direction = random.pick(['in', 'out', 'both'] as const);
      return at(free([...workers, ...clients, redis]), `${direction} for ${waitMs} ms`, async ({ host }) => {
        host.cut(direction);
        await pause(waitMs);
        host.mend();
      });
    }
    case 'worker-leaves': {
      const waitMs = leases(0, 25);
      return at(free(workers), `for ${waitMs} ms`, async (seat) => {
        await seat.ready();
        await leaves(seat, seat.end('SIGTERM'), blame);
        await pause(waitMs);
        seat.start();
      });
    }
    case 'clock-of-worker':
    case 'clock-of-client':
    case 'clock-of-redis': {
      const seats = { 'clock-of-worker': workers, 'clock-of-client': clients, 'clock-of-redis': [redis] }[kind];
      const { about, inject } = planWrongClock(random, [3_000, 20_000]);
      return at(free(seats), about, inject);
    }
    case 'full-disk': {
      const waitMs = random.between(3_000, 15_000);
      return at(free(workers), `for ${waitMs} ms`, async (seat) => {
        // Room is needed before a sandbox starts. Those that run have theirs.
        seat.disk?.fill('runtimes');
        await pause(waitMs);
        seat.disk?.empty();
        const count = cluster.startsAt(seat.name);
        const from = performance.now();
        while (cluster.startsAt(seat.name) === count) {
          if (performance.now() - from > RECOVERS_MS)
            return blame(`${seat.name} has had room for ${RECOVERS_MS} ms, and runs no job`);
          await pause(250);
        }
      });
    }
    case 'drain-workers': {
      const seats = all(workers);
      return (
        seats &&
        during(seats, 'one by one', async () => {
          for (const seat of seats.filter(({ isRunning }) => isRunning)) {
            await drain(seat, cluster, blame);
            seat.start();
            await seat.ready();
          }
        })
      );
    }
    case 'upgrade': {
      const { replicas = [] } = cluster.service ?? {};
      const seats = all([...workers, ...clients, ...replicas]);
      const old = workers.filter(({ isRunning }) => isRunning);
      const fresh = workers.filter(({ isRunning }) => !isRunning);
      const build = old.every((seat) => seat.build === 'this') ? 'other' : 'this';
      return (
        seats &&
        during(seats, `to ${build}`, async () => {
          for (const seat of fresh) seat.start(build);
          await Promise.all(fresh.map(async (seat) => await seat.ready()));
          for (const client of clients) {
            await leaves(client, client.end('SIGTERM'), blame);
            client.start(build);
          }
          for (const replica of replicas) await replaceReplica(replica, blame, build);
          for (const seat of old) await drain(seat, cluster, blame);
        })
      );
    }
  }
}

/** Options of {@link planFault}. */
export interface FaultOptions {
  leaseMs: number;
  blame(fault: string): void;
}

/** Asks a worker to drain, as `skillcell fleet drain` does, and waits for its end. */
async function drain(seat: Seat, cluster: Cluster, blame: FaultOptions['blame']): Promise<void> {
  await seat.ready();
  const ask = (...command: string[]): void => {
    try {
      cluster.ask(...command);
    } catch {
      // Redis is away, and has kept nothing.
    }
  };
  const asking = setInterval(() => ask('SET', drainKey(seat.name), '1'), ASK_MS);
  await leaves(seat, seat.ended(), blame).finally(() => clearInterval(asking));
  // The last request may have come after its last look.
  ask('DEL', drainKey(seat.name));
}

async function leaves(seat: Seat, ended: Promise<number | null>, blame: FaultOptions['blame']): Promise<void> {
  const late = setTimeout(() => {
    blame(`${seat.name} was asked to leave ${LEAVES_MS} ms ago, and runs`);
    seat.signal('SIGKILL');
  }, LEAVES_MS);
  const code = await ended;
  clearTimeout(late);
  if (code !== 0) blame(`${seat.name} has left with ${code}`);
}
