import type { StoreItem } from '../../contracts/skills/store.ts';
import { packageVersion } from '../../contracts/package-root.ts';
import { openCheckedFiles } from '../stores/cache/checked-files.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import type { HeadParts } from './head-record.ts';

/** Heads of skills, shared between processes. One file each, found by store, source, path and revision, so that stores never share an entry. */
export interface HeadIndex {
  find(storeId: string, item: StoreItem): HeadParts | undefined;
  /** If it cannot be written, the head is fetched again the next time. */
  keep(storeId: string, parts: HeadParts): void;
}

interface EntryHead extends Pick<HeadParts, 'skillFile' | 'files' | 'names' | 'complete' | 'listed'> {
  key: readonly string[];
  /** Lengths of the texts that follow, in order; null for a file that is too large to be read as text. */
  texts: [path: string, length: number | null][];
}

/** Opens the index of a cache. */
export function openHeadIndex(cache: TreeCache): HeadIndex {
  const files = openCheckedFiles(cache, 'index');
  return {
    find(storeId, item) {
      const key = keyOf(storeId, item);
      const content = files.find(JSON.stringify(key));
      return content && readEntry(content, key, item);
    },
    keep(storeId, parts) {
      const key = keyOf(storeId, parts.item);
      files.keep(JSON.stringify(key), writeEntry(parts, key));
    },
  };
}

const version = packageVersion();

function keyOf(storeId: string, { origin, path, revision }: StoreItem): string[] {
  // Another version of this package may read other parts of a head.
  return [version, storeId, origin.type, origin.source, path, revision];
}

function writeEntry(
  { skillFile, files, names, complete, listed, texts }: HeadParts,
  key: readonly string[],
): Uint8Array {
  const lengths = [...texts].map(([path, bytes]): [string, number | null] => [path, bytes?.length ?? null]);
  const head: EntryHead = { key, skillFile, files, names, complete, listed, texts: lengths };
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(head)}\n`),
    ...[...texts.values()].map((bytes) => bytes ?? Buffer.alloc(0)),
  ]);
}

function readEntry(content: Buffer, key: readonly string[], item: StoreItem): HeadParts | undefined {
  let at = content.indexOf(10) + 1;
  const { key: own, texts: lengths, ...head } = JSON.parse(content.toString('utf8', 0, at)) as EntryHead;
  if (JSON.stringify(own) !== JSON.stringify(key)) return undefined;
  const texts = new Map<string, Uint8Array | null>();
  for (const [path, length] of lengths) {
    texts.set(path, length === null ? null : content.subarray(at, at + length));
    at += length ?? 0;
  }
  return { ...head, files: head.files, item, texts };
}
