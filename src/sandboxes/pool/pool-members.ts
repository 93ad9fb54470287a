/** Those that wait in a pool, the longest waiting first. */
export interface PoolMembers<T> {
  readonly size: number;
  /** How many of them nobody asks just now. */
  readonly free: number;
  has(member: T): boolean;
  add(member: T): void;
  /** @returns whether it was one of them */
  remove(member: T): boolean;
  /** Removes and returns the longest waiting one that nobody asks and that `accepts`. */
  take(accepts: (member: T) => boolean): T | undefined;
  /** Removes and returns those beyond the first `kept`. */
  removeBeyond(kept: number): T[];
  first(): T | undefined;
  /**
   * Asks one that is still a member, whom nobody can take meanwhile, after who asks it already. One that rejects is removed, and
   * `onLost` told.
   */
  ask(member: T, ask: (member: T) => Promise<void>, onLost: (member: T, error: unknown) => void): Promise<void>;
  /**
   * Asks one after the other: all at once would be work for the whole machine. One at a time is asked, and none by two.
   *
   * @param isBusy whether jobs run now, which go before
   * @param ask rejects when a member doesn't answer; one that is still a member then is removed
   * @param onLost told of a member that was removed, and why
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
    // Several may wait for the same answer; each looks again who was first.
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
