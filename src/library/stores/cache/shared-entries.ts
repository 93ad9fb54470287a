import { basename, join } from 'node:path';
import { evictClaimed, removeDeadClaims, revokeClaims } from './claims.ts';
import { isLeased, openLeases } from './leases.ts';

/** Entries of a cache that stay while a process uses them, by their paths. Names are unique in the whole cache. */
export interface SharedEntries {
  /**
   * Leases the entry at a place, which may be empty. An entry that is seen there afterwards is not evicted before the release.
   *
   * @returns releases the entry; a second call has no effect
   */
  hold(place: string): () => void;
  /** Stops earlier removals. A holder calls this after it has seen that the place is empty, and before it puts an entry there. */
  prepare(place: string): void;
  /** Removes an entry that no living process holds. @returns whether it is gone */
  evict(place: string): boolean;
  /** Removes a damaged entry, even if it is held. @param isReplaced whether another process has removed or replaced it meanwhile */
  discard(place: string, isReplaced: () => boolean): void;
  /** Removes claims of processes that died before they evicted. */
  sweep(): void;
  /** Releases all entries. */
  close(): void;
}

/** Opens the shared entries of a cache in the name of this process. */
export function openSharedEntries(cacheFolder: string): SharedEntries {
  const [claims, folder] = [join(cacheFolder, 'claims'), join(cacheFolder, 'leases')];
  const leases = openLeases(folder);
  return {
    hold(place) {
      // In this order; see `evictClaimed`.
      const release = leases.hold(basename(place));
      try {
        revokeClaims(claims, place);
      } catch (error) {
        release();
        throw error;
      }
      return release;
    },
    prepare: (place) => revokeClaims(claims, place),
    evict: (place) => evictClaimed(claims, place, () => isLeased(folder, basename(place))),
    discard(place, isReplaced) {
      evictClaimed(claims, place, isReplaced);
    },
    sweep: () => removeDeadClaims(claims),
    close: leases.close,
  };
}
