/** Work that goes on beside its callers, and is awaited at the end. */
export interface BackgroundWork {
  /** Takes work; what it rejects with goes to `onFailure`. */
  add(work: Promise<unknown>): void;
  /** Resolves when nothing is left, what comes meanwhile included. */
  settled(): Promise<void>;
}

/** Creates an empty collection. */
export function createBackgroundWork(onFailure: (error: unknown) => void): BackgroundWork {
  const entries = new Set<Promise<unknown>>();
  return {
    add(work) {
      const entry: Promise<unknown> = work.catch(onFailure).finally(() => entries.delete(entry));
      entries.add(entry);
    },
    async settled() {
      while (entries.size > 0) await Promise.all(entries);
    },
  };
}
