import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { StoreItem } from '../contracts/store.ts';
import { readChecked, writeChecked } from '../stores/cache/checked-file.ts';
import { privateFolder } from '../stores/cache/private-folder.ts';

/** What a store listed, and when. */
export interface KeptList {
  items: StoreItem[];
  diagnostics: Diagnostic[];
  /** In ms since 1970. */
  listedAt: number;
}

/** The last good list of each store, for when it is out of reach. */
export interface KeptLists {
  find(storeId: string): KeptList | undefined;
  keep(storeId: string, list: KeptList): void;
}

/** How old the time of a kept list may be where the list itself has not changed. */
const RENEW_MS = 60_000;

/** Opens the lists of a cache. */
export function openKeptLists(cacheFolder: string): KeptLists {
  let folder: string | undefined;
  const opened = (): string => (folder ??= privateFolder(join(privateFolder(cacheFolder), 'lists')));
  const nameOf = (storeId: string): string => hash('sha256', storeId);
  const written = new Map<string, KeptList>();
  return {
    find(storeId) {
      const content = readChecked(opened(), nameOf(storeId));
      if (content === undefined) return undefined;
      const { storeId: own, ...list } = JSON.parse(content.toString('utf8')) as KeptList & { storeId: string };
      return own === storeId ? list : undefined;
    },
    keep(storeId, list) {
      const last = written.get(storeId);
      if (last?.items === list.items && list.listedAt - last.listedAt < RENEW_MS) return;
      try {
        writeChecked(opened(), nameOf(storeId), Buffer.from(JSON.stringify({ storeId, ...list })));
        written.set(storeId, list);
      } catch {
        // A full disk, say: then this list is no help in an outage.
      }
    },
  };
}
