import type { PoolMembers } from './pool-members.ts';
import { waitWhileBusy } from './wait-while-busy.ts';

/** Prepares members of a pool that wait already, one after the other: who needs one takes it as it is. */
export interface PoolPreparation<T> {
  add(member: T): void;
  /** The preparation of all that were added, while there is something to do. */
  readonly underWay: Promise<void> | undefined;
}

/** Options of {@link createPoolPreparation}. */
export interface PoolPreparationOptions<T> {
  members: PoolMembers<T>;
  prepare(member: T): Promise<void>;
  /** Whether jobs run: they go first, for a while. */
  isBusy(): boolean;
  closed: AbortSignal;
  /** Told of a member whose preparation failed, and why. It is none any more. */
  onLost(member: T, error: unknown): void;
}

/** Half a second: jobs that come one after the other find members that are as good as cold ones, and sooner. */
const BUSY_TRIES = 100;

/** Creates the preparation of one pool. */
export function createPoolPreparation<T>(options: PoolPreparationOptions<T>): PoolPreparation<T> {
  const { members, prepare, isBusy, closed, onLost } = options;
  const added: T[] = [];
  let underWay: Promise<void> | undefined;
  const prepareAdded = async (): Promise<void> => {
    for (let member = added.shift(); member !== undefined; member = added.shift()) {
      const waiting = member;
      await waitWhileBusy(isBusy, () => (members.has(waiting) ? BUSY_TRIES : 0), closed);
      await members.ask(waiting, prepare, onLost);
    }
  };
  return {
    add(member) {
      added.push(member);
      underWay ??= prepareAdded().finally(() => (underWay = undefined));
    },
    get underWay() {
      return underWay;
    },
  };
}
