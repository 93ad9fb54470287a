import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeTorn, writeAside } from '../../durable/durable-file.ts';
import { digestOf } from '../../skills/text/digest.ts';

/** Texts that were made of documents, by the digests of those. */
export interface KeptTexts {
  find(digest: string): string | undefined;
  keep(digest: string, text: string): void;
}

/** The most texts that are kept. */
const KEPT = 512;

/** @param maker what makes them, with its version: another one may make another text */
export function openKeptTexts(cacheDir: string, maker: string): KeptTexts {
  const folder = join(cacheDir, 'texts');
  const placeOf = (digest: string): string => join(folder, `${digest.replace('sha256:', '')}-${maker}.txt`);
  return {
    find(digest) {
      try {
        const kept = readFileSync(placeOf(digest), 'utf8');
        const end = kept.indexOf('\n');
        const text = kept.slice(end + 1);
        return digestOf(text) === kept.slice(0, end) ? text : undefined;
      } catch {
        // Not there: it is made.
        return undefined;
      }
    },
    keep(digest, text) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        removeTorn(folder);
        renameSync(writeAside(folder, `${digestOf(text)}\n${text}`), placeOf(digest));
        forgetOldest(folder);
      } catch {
        // A cache that cannot be written is one that has nothing.
      }
    },
  };
}

function forgetOldest(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  if (names.length <= KEPT) return;
  const oldest = names
    .map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => a.at - b.at);
  for (const { name } of oldest.slice(0, names.length - KEPT)) rmSync(join(folder, name), { force: true });
}
