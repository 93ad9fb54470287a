import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tornPath } from '../../../durable/durable-file.ts';
import { digestOf } from '../../../skills/text/digest.ts';

const HOUR_MS = 3_600_000;
const DIGEST_LENGTH = 'sha256:'.length + 64;

/**
 * Writes a cache file that begins with the digest of its content. Readers see the whole file or none. It is not synced to disk: after a crash of
 * the machine, the digest reveals a damaged file.
 *
 * @throws the system's error
 */
export function writeChecked(folder: string, name: string, content: Uint8Array): void {
  const aside = tornPath(folder);
  try {
    writeFileSync(aside, Buffer.concat([Buffer.from(digestOf(content)), content]), { flag: 'wx', mode: 0o600 });
    renameSync(aside, join(folder, name));
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** Reads a file of `writeChecked`; undefined where it is missing or damaged. */
export function readChecked(folder: string, name: string, touch = true): Buffer | undefined {
  const path = join(folder, name);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // Never written, or evicted: the caller fetches it again.
    return undefined;
  }
  const content = bytes.subarray(DIGEST_LENGTH);
  if (bytes.toString('latin1', 0, DIGEST_LENGTH) !== digestOf(content)) {
    rmSync(path, { force: true });
    return undefined;
  }
  if (touch) touchOld(path);
  return content;
}

/** Eviction goes by the time of last use. An hour's precision is enough, and saves a write for each read. */
function touchOld(path: string): void {
  try {
    const now = Date.now();
    if (statSync(path).mtimeMs > now - HOUR_MS) return;
    utimesSync(path, now / 1000, now / 1000);
  } catch {
    // Evicted meanwhile.
  }
}
