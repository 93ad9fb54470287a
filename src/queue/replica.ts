import { randomUUID } from 'node:crypto';
import type { Database } from '../registry/database/database.ts';
import { LEASE_MS, livingReplicas, removeReplica, seeReplica } from './rows/replica-rows.ts';

/** Time between two signs of life: a cut of 0.6 leases leaves time for another one. */
const RENEW_MS = 3_000;
/** Time until another one, if one fails. */
const RETRY_MS = 500;
/** Without a sign of life for so long, a replica begins no calls: others may soon take its jobs up. */
const CALL_MS = 10_000;

/** Work that goes with the signs of life of a replica. */
export interface ReplicaFollower {
  /** Ends the jobs that others have taken up. No call begins before it has resolved. */
  giveUp(): Promise<void>;
  /** The database was reached for a whole lease, so that its rows tell who is dead. */
  takeUp(): void;
}

/** This process as one of the replicas of a service. */
export interface Replica {
  readonly id: string;
  /**
   * Whether calls of tools and of the model may begin. While others may have taken jobs up, they wait until that is known: a call that was refused
   * would fail its program, and with it a job that was not taken.
   */
  mayCall(): boolean | Promise<boolean>;
  /** Follows the signs of life, one follower at most. */
  follow(follower: ReplicaFollower): void;
  /** Where a living replica is reached. */
  addressOf(id: string): Promise<string | undefined>;
  leave(): Promise<void>;
}

/**
 * Joins the replicas of a service.
 *
 * @param url where the others reach this one
 * @throws SkillcellError `database.unavailable`
 */
export async function joinReplicas({ db, signs }: Database, url: string): Promise<Replica> {
  const id = randomUUID();
  let follower: ReplicaFollower | undefined;
  let seenAt = performance.now();
  let reachedSince = seenAt;
  /** How often others may have taken jobs up, and how often that was looked at. */
  const taken = { times: 0, seen: 0 };
  let hasLeft = false;
  let waiting: PromiseWithResolvers<boolean> | undefined;
  const isSure = (): boolean => performance.now() - seenAt < CALL_MS && taken.seen === taken.times;
  const tell = (mayCall: boolean): void => {
    waiting?.resolve(mayCall);
    waiting = undefined;
  };
  await seeReplica(signs, { id, url });
  const renew = async (): Promise<void> => {
    const now = performance.now();
    const isKnown = await seeReplica(signs, { id, url });
    // While the database was away, the others could not give a sign of life either.
    if (now - seenAt > CALL_MS) reachedSince = now;
    if (!isKnown) taken.times += 1;
    seenAt = now;
    if (isSure()) tell(true);
    // After a failure, the next turn tries again.
    if (taken.seen < taken.times) void giveUp(taken.times).catch(() => undefined);
    if (now - reachedSince > LEASE_MS) follower?.takeUp();
  };
  const giveUp = async (times: number): Promise<void> => {
    await follower?.giveUp();
    taken.seen = Math.max(taken.seen, times);
    if (isSure()) tell(true);
  };
  let timer: NodeJS.Timeout | undefined;
  const renewAfter = (ms: number): void => {
    const next = (): void =>
      void renew().then(
        () => renewAfter(RENEW_MS),
        () => renewAfter(RETRY_MS),
      );
    if (!hasLeft) timer = setTimeout(next, ms).unref();
  };
  renewAfter(RENEW_MS);
  return {
    id,
    mayCall: () => isSure() || (waiting ??= Promise.withResolvers<boolean>()).promise,
    follow: (given) => void (follower = given),
    addressOf: async (other) =>
      (await livingReplicas(db).select('url').where('id', '=', other).executeTakeFirst())?.url,
    async leave() {
      hasLeft = true;
      clearTimeout(timer);
      tell(false);
      await removeReplica(db, id).catch(() => undefined);
    },
  };
}
