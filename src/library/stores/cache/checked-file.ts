import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tornPath } from '../../../durable/durable-file.ts';
import { digestOf } from '../../../skills/text/digest.ts';

const HOUR_MS = 3_600_000;
const DIGEST_LENGTH = 'sha256:'.length + 64;

/**
 * Writes a file of the cache that begins with the digest of its content. It is there whole or not at all for whoever reads it, and need not
 * outlive the machine: what a crash leaves has another digest than it says.
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

/** Reads such a file; undefined where it is not there, or not what was written. */
export function readChecked(folder: string, name: string, touch = true): Buffer | undefined {
  const path = join(folder, name);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // Never written, or evicted: it is fetched again.
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

/** What was used last is evicted last; an hour more or less makes no difference there, and a write for each read does. */
function touchOld(path: string): void {
  try {
    const now = Date.now();
    if (statSync(path).mtimeMs > now - HOUR_MS) return;
    utimesSync(path, now / 1000, now / 1000);
  } catch {
    // Evicted meanwhile.
  }
}
