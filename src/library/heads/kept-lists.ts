import { hash } from 'node:crypto';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { StoreItem } from '../../contracts/skills/store.ts';
import { readChecked, writeChecked } from '../stores/cache/checked-file.ts';
import { folderOf } from './cache-part.ts';

/** The list of a store, and its time. */
export interface KeptList {
  items: StoreItem[];
  diagnostics: Diagnostic[];
  /** In ms since 1970. */
  listedAt: number;
}

/** The last good list of each store, for outages. */
export interface KeptLists {
  find(storeId: string): KeptList | undefined;
  keep(storeId: string, list: KeptList): void;
}

/** Longest age of a kept list's time, where the list itself has not changed. */
const RENEW_MS = 60_000;

/** Opens the lists of a cache. */
export function openKeptLists(cacheFolder: string): KeptLists {
  let folder: string | null | undefined;
  const opened = (): string | null => (folder === undefined ? (folder = folderOf(cacheFolder, 'lists')) : folder);
  const nameOf = (storeId: string): string => hash('sha256', storeId);
  const written = new Map<string, KeptList>();
  return {
    find(storeId) {
      const place = opened();
      const content = place === null ? undefined : readChecked(place, nameOf(storeId));
      if (content === undefined) return undefined;
      const { storeId: own, ...list } = JSON.parse(content.toString('utf8')) as KeptList & { storeId: string };
      return own === storeId ? list : undefined;
    },
    keep(storeId, list) {
      const last = written.get(storeId);
      if (last?.items === list.items && list.listedAt - last.listedAt < RENEW_MS) return;
      const place = opened();
      if (place === null) return;
      try {
        writeChecked(place, nameOf(storeId), Buffer.from(JSON.stringify({ storeId, ...list })));
        written.set(storeId, list);
      } catch {
        // For example a full disk: this list is then no help in an outage.
      }
    },
  };
}
