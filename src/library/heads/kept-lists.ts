import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { StoreItem } from '../../contracts/skills/store.ts';
import { openCheckedFiles } from '../stores/cache/checked-files.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';

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
export function openKeptLists(cache: TreeCache): KeptLists {
  const files = openCheckedFiles(cache, 'lists');
  const written = new Map<string, KeptList>();
  return {
    find(storeId) {
      const content = files.find(storeId);
      if (content === undefined) return undefined;
      const { storeId: own, ...list } = JSON.parse(content.toString('utf8')) as KeptList & { storeId: string };
      return own === storeId ? list : undefined;
    },
    keep(storeId, list) {
      const last = written.get(storeId);
      if (last?.items === list.items && list.listedAt - last.listedAt < RENEW_MS) return;
      if (files.keep(storeId, Buffer.from(JSON.stringify({ storeId, ...list })))) written.set(storeId, list);
    },
  };
}
