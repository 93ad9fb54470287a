import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readChecked, writeChecked } from '../../stores/cache/checked-file.ts';
import { privateFolder } from '../../stores/cache/private-folder.ts';
import type { TreeCache } from '../../stores/cache/tree-cache.ts';

/** Texts that were made of documents, by the digests of those. */
export interface KeptTexts {
  find(digest: string): string | undefined;
  keep(digest: string, text: string): void;
}

/**
 * Texts in a cache, which makes room for them as for all that it holds.
 *
 * @param maker what makes them, with its version: another one may make another text
 */
export function openKeptTexts(cache: TreeCache, maker: string): KeptTexts {
  let folder: string | undefined;
  const opened = (): string => (folder ??= privateFolder(join(privateFolder(cache.folder), 'index')));
  const nameOf = (digest: string): string => hash('sha256', JSON.stringify(['text of a document', maker, digest]));
  return {
    find: (digest) => readChecked(opened(), nameOf(digest))?.toString('utf8'),
    keep(digest, text) {
      const bytes = Buffer.from(text);
      try {
        writeChecked(opened(), nameOf(digest), bytes);
        cache.added(bytes.length);
      } catch {
        // A full disk, say: it is made again.
      }
    },
  };
}
