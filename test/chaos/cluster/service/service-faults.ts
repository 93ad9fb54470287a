import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../../seeded-random.ts';
import type { PlannedFault } from '../cluster-faults.ts';
import type { Seat } from '../cluster.ts';
import { endReplica, replaceReplica } from './replace-replica.ts';
import { planWrongClock } from '../clock.ts';
import type { ClusterService } from './service-seats.ts';

/** Kinds of faults of a service. */
export const SERVICE_FAULTS = [
  'kill-replica',
  'stop-replica',
  'cut-replica',
  'hiccup-of-replica',
  'clock-of-replica',
  'kill-database',
  'cut-database',
  'hiccup-of-database',
  'kill-bucket',
  'cut-user',
  'replica-leaves',
  'upgrade-replicas',
] as const;

/** A kind of fault of a service. */
export type ServiceFault = (typeof SERVICE_FAULTS)[number];

/** Kinds of faults for which no attempt of a job may be lost. */
export const HARMLESS_SERVICE_FAULTS: ReadonlySet<ServiceFault> = new Set<ServiceFault>([
  'hiccup-of-replica',
  'clock-of-replica',
  'kill-database',
  'hiccup-of-database',
  'kill-bucket',
  'cut-user',
  'replica-leaves',
  'upgrade-replicas',
]);

/** Lease of a replica. */
const LEASE_MS = 15_000;

/** Whether a kind of fault is one of a service. */
export function isServiceFault(kind: string): kind is ServiceFault {
  return (SERVICE_FAULTS as readonly string[]).includes(kind);
}

/** Plans a fault at a place that has no fault; undefined if every place has one. */
export function planServiceFault(
  kind: ServiceFault,
  { replicas, users, database, bucket }: ClusterService,
  random: SeededRandom,
  blame: (fault: string) => void,
): PlannedFault<ServiceFault> | undefined {
  type Place = Pick<Seat, 'name' | 'isBusy'>;
  const free = <Each extends Place>(places: readonly Each[]): Each | undefined => {
    const [first, ...rest] = places.filter(({ isBusy }) => !isBusy);
    return first && random.pick([first, ...rest]);
  };
  const at = <Each extends Place>(
    place: Each | undefined,
    about: string,
    run: (place: Each) => Promise<void>,
  ): PlannedFault<ServiceFault> | undefined =>
    place && {
      kind,
      about: `${kind} ${place.name} ${about}`,
      async inject() {
        place.isBusy = true;
        await run(place).finally(() => (place.isBusy = false));
      },
    };
  const cut = (
    place: (Place & Pick<Seat, 'host'>) | undefined,
    leases: number,
  ): PlannedFault<ServiceFault> | undefined => {
    const direction = random.pick(['in', 'out', 'both'] as const);
    return at(place, `${direction} for ${leases} leases`, async ({ host }) => {
      host.cut(direction);
      await pause(leases * LEASE_MS);
      host.mend();
    });
  };

  switch (kind) {
    case 'kill-replica': {
      const waitMs = random.pick([0, 3_000, 20_000]);
      return at(free(replicas), `for ${waitMs} ms`, async (seat) => {
        await seat.end('SIGKILL');
        await pause(waitMs);
        seat.start();
      });
    }
    case 'stop-replica': {
      const waitMs = Math.round((random.between(12, 25) / 10) * LEASE_MS);
      return at(free(replicas), `for ${waitMs} ms`, async (seat) => {
        seat.signal('SIGSTOP');
        await pause(waitMs);
        seat.signal('SIGCONT');
      });
    }
    case 'cut-replica':
      return cut(free(replicas), 2.5);
    case 'hiccup-of-replica':
      return cut(free(replicas), 0.6);
    case 'cut-user':
      return cut(free(users), random.pick([0.6, 2.5]));
    case 'clock-of-replica': {
      const { about, inject } = planWrongClock(random, [10_000, 25_000]);
      return at(free(replicas), about, inject);
    }
    case 'kill-database': {
      const waitMs = random.between(0, 6_000);
      return at(free([database]), `for ${waitMs} ms`, async ({ server }) => {
        await server.stop('SIGKILL');
        await pause(waitMs);
        await server.start();
      });
    }
    case 'cut-database':
      return cut(free([database]), 2.5);
    case 'hiccup-of-database':
      return cut(free([database]), 0.6);
    case 'kill-bucket': {
      const waitMs = random.between(3_000, 20_000);
      return at(free([bucket]), `for ${waitMs} ms`, async ({ server }) => {
        await server.stopGateway();
        await pause(waitMs);
        await server.startGateway();
      });
    }
    case 'replica-leaves': {
      const waitMs = random.pick([0, 5_000]);
      return at(free(replicas), `for ${waitMs} ms`, async (seat) => {
        await endReplica(seat, blame);
        await pause(waitMs);
        seat.start();
      });
    }
    case 'upgrade-replicas': {
      if (replicas.some(({ isBusy }) => isBusy)) return undefined;
      return at({ name: 'all', isBusy: false }, 'one by one', async () => {
        for (const seat of replicas) seat.isBusy = true;
        try {
          for (const seat of replicas) {
            await replaceReplica(seat, blame);
          }
        } finally {
          for (const seat of replicas) seat.isBusy = false;
        }
      });
    }
  }
}
