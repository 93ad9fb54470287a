import { randomUUID } from 'node:crypto';
import type { Database } from '../registry/database/database.ts';
import { LEASE_MS, livingReplicas, removeReplicas, seeReplica } from './rows/replica-rows.ts';

/** Time between two signs of life. */
const RENEW_MS = 5_000;
/** Without a sign of life for so long, a replica begins no calls: others may soon take its jobs up. */
const CALL_MS = 10_000;

/** This process as one of the replicas of a service. */
export interface Replica {
  readonly id: string;
  /** Whether calls of tools and of the model may begin. */
  mayCall(): boolean;
  /** Calls a function after each sign of life; `isSettled` if the database was reached for a whole lease, so that its rows tell who is dead. */
  follow(onRenewed: (isSettled: boolean) => void): void;
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
export async function joinReplicas({ db }: Database, url: string): Promise<Replica> {
  const id = randomUUID();
  const followers: ((isSettled: boolean) => void)[] = [];
  let seenAt = performance.now();
  let reachedSince = seenAt;
  const renew = async (): Promise<void> => {
    const now = performance.now();
    await seeReplica(db, { id, url });
    // While the database was away, the others could not give a sign of life either.
    if (now - seenAt > CALL_MS) reachedSince = now;
    seenAt = now;
  };
  await renew();
  const renewOn = async (): Promise<void> => {
    await renew();
    for (const onRenewed of followers) onRenewed(performance.now() - reachedSince > LEASE_MS);
  };
  // The next turn tries again.
  const timer = setInterval(() => void renewOn().catch(() => undefined), RENEW_MS).unref();
  return {
    id,
    mayCall: () => performance.now() - seenAt < CALL_MS,
    follow: (onRenewed) => void followers.push(onRenewed),
    addressOf: async (other) =>
      (await livingReplicas(db).select('url').where('id', '=', other).executeTakeFirst())?.url,
    async leave() {
      clearInterval(timer);
      await removeReplicas(db, id).catch(() => undefined);
    },
  };
}
