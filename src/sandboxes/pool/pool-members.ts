/** Waiting members of a pool, the longest waiting first. */
export interface PoolMembers<T> {
  readonly size: number;
  /** Number of members without a question under way. */
  readonly free: number;
  has(member: T): boolean;
  add(member: T): void;
  /** @returns false if it was not a member */
  remove(member: T): boolean;
  /** Removes and returns the longest waiting free member that `accepts` approves. */
  take(accepts: (member: T) => boolean): T | undefined;
  /** Removes and returns all members beyond the first `kept`. */
  removeBeyond(kept: number): T[];
  first(): T | undefined;
  /**
   * Asks a member, after any question under way. It cannot be taken in the meantime. A member that rejects is removed and passed to
   * `onLost`. Does nothing if it is no longer a member.
   */
  ask(member: T, ask: (member: T) => Promise<void>, onLost: (member: T, error: unknown) => void): Promise<void>;
  /**
   * Asks all members one after the other: all at once would load the whole machine.
   *
   * @param isBusy true while jobs run; members are then skipped
   * @param ask rejects if a member does not answer; the member is then removed
   * @param onLost called with each removed member and the reason
   */
  askAll(
    isBusy: () => boolean,
    ask: (member: T) => Promise<void>,
    onLost: (member: T, error: unknown) => void,
  ): Promise<void>;
}

/** Creates an empty set of members. */
export function createPoolMembers<T>(): PoolMembers<T> {
  const members = new Set<T>();
  const asked = new Map<T, Promise<void>>();
  const remove = (member: T): boolean => members.delete(member);
  const askOne: PoolMembers<T>['ask'] = async (member, ask, onLost) => {
    // Several callers may wait for the same answer, so each checks again.
    while (asked.has(member)) await asked.get(member);
    if (!members.has(member)) return;
    const answered = ask(member)
      .catch((error: unknown) => {
        if (remove(member)) onLost(member, error);
      })
      .finally(() => asked.delete(member));
    asked.set(member, answered);
    await answered;
  };
  return {
    get size() {
      return members.size;
    },
    get free() {
      return members.size - asked.size;
    },
    has: (member) => members.has(member),
    add: (member) => void members.add(member),
    remove,
    take(accepts) {
      const member = [...members].find((candidate) => !asked.has(candidate) && accepts(candidate));
      if (member !== undefined) remove(member);
      return member;
    },
    removeBeyond(kept) {
      const left = [...members].slice(kept);
      left.forEach(remove);
      return left;
    },
    first: () => members.values().next().value,
    ask: askOne,
    async askAll(isBusy, ask, onLost) {
      for (const member of [...members]) {
        if (asked.size > 0 || isBusy()) continue;
        await askOne(member, ask, onLost);
      }
    },
  };
}
