/** Room for so many bytes at once; who wants more waits, in turn. */
export interface ByteBudget {
  /** Resolves with how to give the room back. More than all of it is given when nobody else has any. */
  take(bytes: number): Promise<() => void>;
}

/** Creates a budget. */
export function createByteBudget(total: number): ByteBudget {
  let taken = 0;
  const waiting: { bytes: number; go(): void }[] = [];

  const next = (): void => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (taken > 0 && taken + first.bytes > total) return;
      waiting.shift();
      taken += first.bytes;
      first.go();
    }
  };

  return {
    async take(bytes) {
      await new Promise<void>((go) => {
        waiting.push({ bytes, go });
        next();
      });
      return () => {
        taken -= bytes;
        next();
      };
    },
  };
}
