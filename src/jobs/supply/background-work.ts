/** Work in the background, which is awaited at the end. */
export interface BackgroundWork {
  /** Takes work; a rejection goes to `onFailure`. */
  add(work: Promise<unknown>): void;
  /** Resolves when all work is done, including work that is added meanwhile. */
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
