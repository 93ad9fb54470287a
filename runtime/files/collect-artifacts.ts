import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { OmittedFile } from '../../src/contracts/jobs/result.ts';
import { leftOut } from '../../src/protocol/messages/left-out.ts';
import { type MissingOutput, missingOutputs } from '../../src/protocol/messages/missing-outputs.ts';
import { specialKind } from '../../src/protocol/files/file-kind.ts';
import { printablePath, shownPathFault } from '../../src/protocol/files/shown-path.ts';
import type { TarFile } from '../../src/protocol/files/tar.ts';

/** Most entries that a walk visits. */
const MAX_ENTRIES = 20_000;
const MAX_MILLISECONDS = 15_000;
const MAX_OMITTED = 200;

/** Findings of the walk through an output folder so far. */
export interface Collection {
  omitted: OmittedFile[];
  /** Set when a cap on the number or the total size of files left something out. */
  overLimit: boolean;
}

/**
 * Walks an output folder that user code wrote, after its last process has ended, and yields the regular files in path order. Links, devices, pipes
 * and sockets are never opened; the type is read from the open descriptor, not from the listing. `collection.omitted` names every entry left out.
 *
 * @param mostEntries most entries that the walk visits
 */
export function collectArtifacts(
  folder: string,
  limits: JobLimits,
  collection: Collection,
  mostEntries: number = MAX_ENTRIES,
): Generator<TarFile> {
  return walkOutputs(folder, limits, collection, { mostEntries, mostOmitted: MAX_OMITTED, take: readWhole });
}

/** The declared outputs that `collectArtifacts` would not yield. No content is read. */
export function undeliverable(folder: string, limits: JobLimits, expected: readonly string[]): MissingOutput[] {
  if (expected.length === 0) return [];
  const collection: Collection = { omitted: [], overLimit: false };
  // A declared output gets its row here, however many other entries are left out.
  const options = { mostEntries: MAX_ENTRIES, mostOmitted: MAX_ENTRIES, take: sizeOnly };
  const delivered = new Set(Array.from(walkOutputs(folder, limits, collection, options), ({ path }) => path));
  return missingOutputs(expected, delivered, collection).map((missing) => {
    const reason = missing.reason ?? unlistedReason(folder, missing.path, collection);
    return reason === undefined ? missing : { ...missing, reason };
  });
}

/** Why an output without a row is missing: folders never have a row, nor do entries that the walk did not reach. */
function unlistedReason(folder: string, path: string, collection: Collection): string | undefined {
  const status = statusOf(join(folder, path));
  if (typeof status !== 'object') return status;
  return status.isDirectory() ? 'a folder' : leftOut(collection, path)?.reason;
}

interface WalkOptions<Taken extends { bytes: { length: number } }> {
  mostEntries: number;
  /** Most rows of `omitted`, plus one last row that counts the rest. */
  mostOmitted: number;
  /** Reads the wanted data from an opened file. */
  take(descriptor: number, status: Stats): Taken;
}

function* walkOutputs<Taken extends { bytes: { length: number } }>(
  folder: string,
  limits: JobLimits,
  collection: Collection,
  { mostEntries, mostOmitted, take }: WalkOptions<Taken>,
): Generator<Taken & { path: string }> {
  const deadline = performance.now() + MAX_MILLISECONDS;
  let entries = 0;
  let files = 0;
  let total = 0;
  let unnamed = 0;
  let isWhole = true;
  const omit = (path: string, reason: string): void => {
    if (collection.omitted.length < mostOmitted) collection.omitted.push({ path: printablePath(path), reason });
    else unnamed += 1;
  };

  function* walk(relative: string, depth: number): Generator<Taken & { path: string }> {
    for (const name of listFolder(join(folder, relative), (reason) => omit(relative || '.', reason))) {
      if (typeof name !== 'string') {
        omit(relative === '' ? name.shown : `${relative}/${name.shown}`, 'its name is not UTF-8');
        continue;
      }
      const path = relative === '' ? name : `${relative}/${name}`;
      entries += 1;
      if (entries > mostEntries || performance.now() > deadline) {
        if (entries > mostEntries) omit(path, `more than ${mostEntries} entries`);
        else omit(path, 'collecting took over 15 s');
        entries = Number.POSITIVE_INFINITY;
        isWhole = false;
        return;
      }
      const status = statusOf(join(folder, path));
      if (status === undefined) continue;
      if (typeof status === 'string') {
        omit(path, status);
        continue;
      }
      const fault = shownPathFault(path) ?? specialKind(status);
      if (fault !== undefined) omit(path, fault);
      else if (status.isDirectory()) {
        if (depth >= limits.artifactDepth) omit(path, `deeper than ${limits.artifactDepth} folders`);
        else yield* walk(path, depth + 1);
      } else if (files >= limits.artifactFiles) {
        collection.overLimit = true;
        omit(path, `more than ${limits.artifactFiles} files`);
      } else {
        const room = limits.artifactTotalBytes - total;
        const taken = openRegular(join(folder, path), limits.artifactFileBytes, room, take);
        if (typeof taken === 'string') {
          omit(path, taken);
          if (taken === OVER_TOTAL) collection.overLimit = true;
          continue;
        }
        files += 1;
        total += taken.bytes.length;
        yield { path, ...taken };
      }
      if (entries > mostEntries) return;
    }
  }

  const status = statusOf(folder);
  if (status === undefined) return;
  if (typeof status === 'string') omit('.', status);
  else if (!status.isDirectory()) omit('.', 'the output folder was replaced by something else');
  else yield* walk('', 1);
  // Entries that the walk did not reach cannot be counted, but they must not appear to be absent.
  if (!isWhole) collection.omitted.push({ path: '…', reason: 'not all entries were looked at' });
  else if (unnamed > 0) collection.omitted.push({ path: '…', reason: `${unnamed} more entries were left behind` });
}

const OVER_TOTAL = 'the files together are over their limit';

/** The status of an entry itself, `undefined` if it does not exist, or the reason why its status cannot be read. */
function statusOf(path: string): Stats | string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return `unreadable (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
  }
}

/** Names in code-point order; a name that is not UTF-8 is an object with a printable form. */
function listFolder(path: string, onFault: (reason: string) => void): (string | { shown: string })[] {
  let raw: Buffer[];
  try {
    raw = readdirSync(path, { encoding: 'buffer' });
  } catch (error) {
    onFault(`unreadable (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    return [];
  }
  raw.sort(Buffer.compare);
  return raw.map((bytes) => {
    const text = bytes.toString('utf8');
    return Buffer.from(text).equals(bytes) ? text : { shown: bytes.toString('latin1') };
  });
}

/** Applies `take` to a regular file of at most `maxBytes`, or returns the reason why not. */
function openRegular<Taken>(
  path: string,
  maxBytes: number,
  room: number,
  take: (descriptor: number, status: Stats) => Taken,
): Taken | string {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return `unreadable (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) return 'no regular file';
    if (status.size > maxBytes) return `over ${maxBytes} bytes, got ${status.size}`;
    if (status.size > room) return OVER_TOTAL;
    return take(descriptor, status);
  } catch (error) {
    return `unreadable (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
  } finally {
    closeSync(descriptor);
  }
}

function readWhole(descriptor: number, status: Stats): { bytes: Buffer; executable: boolean } {
  const bytes = Buffer.alloc(status.size);
  let offset = 0;
  while (offset < bytes.length) {
    const size = readSync(descriptor, bytes, offset, bytes.length - offset, offset);
    if (size === 0) break;
    offset += size;
  }
  return { bytes: bytes.subarray(0, offset), executable: (status.mode & 0o111) !== 0 };
}

function sizeOnly(_descriptor: number, { size }: Stats): { bytes: { length: number } } {
  return { bytes: { length: size } };
}
