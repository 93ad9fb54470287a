/** Jobs that wait for a member whose start is under way, the longest waiting first. */
export interface PoolClaims<T> {
  readonly size: number;
  /** Adds a claim. Resolves with an accepted member, or with undefined. Rejects with the signal's reason. */
  add(accepts: (member: T) => boolean, signal: AbortSignal): Promise<T | undefined>;
  /** Gives a member to the first claim that accepts it. @returns true if a claim took it */
  give(member: T): boolean;
  /** Resolves all claims beyond the first `kept` with undefined. */
  refuseBeyond(kept: number): void;
}

/** Creates an empty list of claims. */
export function createPoolClaims<T>(): PoolClaims<T> {
  interface Claim {
    accepts(member: T): boolean;
    settle(member: T | undefined): void;
  }
  const claims: Claim[] = [];
  return {
    get size() {
      return claims.length;
    },
    async add(accepts, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
      const claim: Claim = { accepts, settle: resolve };
      const leave = (): void => {
        const index = claims.indexOf(claim);
        // A claim with a member is no longer in the list, and its job handles the abort itself.
        if (index >= 0) claims.splice(index, 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      claims.push(claim);
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    give(member) {
      const index = claims.findIndex((claim) => claim.accepts(member));
      const [claim] = index < 0 ? [] : claims.splice(index, 1);
      claim?.settle(member);
      return claim !== undefined;
    },
    refuseBeyond(kept) {
      for (const claim of claims.splice(kept)) claim.settle(undefined);
    },
  };
}
