import { hash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tornPath } from '../../../durable/durable-file.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import { removeEntry, touch } from './cache-entries.ts';
import { folderOf } from './cache-part.ts';
import type { TreeCache } from './tree-cache.ts';

/** Files of a cache that only save time, each with the digest of its content. */
export interface CheckedFiles {
  /** The content that was kept for a key; undefined where it is missing or damaged. */
  find(key: string): Buffer | undefined;
  /** Keeps the content of a key. @returns false if it cannot be written, for example on a full disk */
  keep(key: string, content: Uint8Array): boolean;
}

/** Precision of the time of last use. */
const HOUR_MS = 3_600_000;
const DIGEST_LENGTH = 'sha256:'.length + 64;

/** Opens a folder of files in a cache, which evicts them like its other entries. The folder is made at the first use. */
export function openCheckedFiles(cache: TreeCache, part: 'index' | 'lists'): CheckedFiles {
  let folder: string | null | undefined;
  const placeOf = (key: string): string | null => {
    folder = folder === undefined ? folderOf(cache.folder, part) : folder;
    return folder === null ? null : join(folder, hash('sha256', key));
  };
  return {
    find(key) {
      const place = placeOf(key);
      return place === null ? undefined : readChecked(place);
    },
    keep(key, content) {
      const place = placeOf(key);
      if (place === null) return false;
      try {
        writeChecked(place, content);
        cache.added(content.length);
        return true;
      } catch {
        // For example a full disk: only time is lost.
        return false;
      }
    },
  };
}

/**
 * Writes a file that begins with the digest of its content. Readers see the whole file or none. It is not synced to disk: after a crash of the
 * machine, the digest reveals a damaged file.
 *
 * @throws the system's error
 */
export function writeChecked(place: string, content: Uint8Array): void {
  const aside = tornPath(dirname(place));
  try {
    writeFileSync(aside, Buffer.concat([Buffer.from(digestOf(content)), content]), { flag: 'wx', mode: 0o600 });
    renameSync(aside, place);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** Reads a file of `writeChecked`; undefined where it is missing or damaged. */
export function readChecked(place: string): Buffer | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(place);
  } catch {
    // Never written, or evicted: the caller fetches it again.
    return undefined;
  }
  const content = bytes.subarray(DIGEST_LENGTH);
  if (bytes.toString('latin1', 0, DIGEST_LENGTH) !== digestOf(content)) {
    removeEntry(place);
    return undefined;
  }
  touch(place, HOUR_MS);
  return content;
}
