import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';
import type { Cluster, Seat } from './cluster.ts';

/** Kinds of faults. */
export const CLUSTER_FAULTS = [
  'kill-worker',
  'kill-client',
  'kill-redis',
  'flush-redis',
  'stop-worker',
  'cut-link',
  'worker-leaves',
] as const;

/** A kind of fault. */
export type ClusterFault = (typeof CLUSTER_FAULTS)[number];

/** A fault that has its place and its times. */
export interface PlannedFault {
  kind: ClusterFault;
  /** Its place and its times, for the history. */
  about: string;
  /** Injects it, and resolves when all is well there again. */
  inject(): Promise<void>;
}

/** The end of a worker that was asked to leave. */
const LEAVES_MS = 60_000;

/** Plans a fault at a place that has no fault; undefined if every place has one. */
export function planFault(
  kind: ClusterFault,
  cluster: Cluster,
  random: SeededRandom,
  { leaseMs, blame }: { leaseMs: number; blame: (fault: string) => void },
): PlannedFault | undefined {
  const { redis, workers, clients } = cluster;
  const free = (seats: readonly Seat[]): Seat | undefined => {
    const [first, ...rest] = seats.filter(({ isBusy }) => !isBusy);
    return first && random.pick([first, ...rest]);
  };
  const leases = (least: number, most: number): number => Math.round((random.between(least, most) / 10) * leaseMs);
  const at = (seat: Seat | undefined, about: string, run: (seat: Seat) => Promise<void>): PlannedFault | undefined =>
    seat && {
      kind,
      about: `${kind} ${seat.name} ${about}`,
      async inject() {
        seat.isBusy = true;
        await run(seat).finally(() => (seat.isBusy = false));
      },
    };

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
      return at(free([redis]), '', async () => void cluster.ask('FLUSHALL'));
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
        const late = setTimeout(() => {
          blame(`${seat.name} was asked to leave ${LEAVES_MS} ms ago, and runs`);
          seat.signal('SIGKILL');
        }, LEAVES_MS);
        const code = await seat.end('SIGTERM');
        clearTimeout(late);
        if (code !== 0) blame(`${seat.name} has left with ${code}`);
        await pause(waitMs);
        seat.start();
      });
    }
  }
}
