import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { hash, randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { removeTorn, writeAside } from '../../durable/durable-file.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';

/** Longest wait for another process. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 20;
/** Larger than any holder file of this package. */
const HOLDER_BYTES = 4_096;

/** Options of {@link withExclusive}. */
export interface ExclusiveOptions {
  signal?: AbortSignal | undefined;
  /** @default 60,000 */
  patienceMs?: number | undefined;
}

/**
 * Runs work while no other process runs any under the same name. The name is a file with the id of its holder. If the holder dies, in any way, the
 * next process takes the file over.
 *
 * @param path absolute path of that file, in an existing folder
 * @throws SkillcellError `store.conflict` where a living process keeps it
 */
export async function withExclusive<Result>(
  path: string,
  work: () => Result | Promise<Result>,
  { signal, patienceMs = PATIENCE_MS }: ExclusiveOptions = {},
): Promise<Result> {
  const token = await take(path, Date.now() + patienceMs, signal);
  try {
    removeTorn(dirname(path));
    removeClaims(path);
    return await work();
  } finally {
    if (holderOf(path) === token) rmSync(path, { force: true });
  }
}

async function take(path: string, until: number, signal: AbortSignal | undefined): Promise<string> {
  const token = `${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}`;
  for (;;) {
    signal?.throwIfAborted();
    const holder = holderOf(path);
    if (holder === undefined) {
      if (linked(path, token)) return token;
      continue;
    }
    const owner = parseOwnerName(holder);
    if (owner === undefined) throw held(path, 'it was not written by skillcell', 'Inspect it, then remove it.');
    if (isDead(owner)) await clear(path, holder, until, signal);
    else if (Date.now() > until) throw held(path, `the process ${owner.pid} holds it`);
    else await sleep(PAUSE_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/**
 * Removes the file of a dead holder. Only the process with the claim on that very holder may do so: otherwise a slow process could remove the file
 * of a living successor.
 */
async function clear(path: string, holder: string, until: number, signal: AbortSignal | undefined): Promise<void> {
  const claim = `${path}.${hash('sha256', holder).slice(0, 16)}`;
  const token = await take(claim, until, signal);
  try {
    if (holderOf(path) === holder) rmSync(path, { force: true });
  } finally {
    if (holderOf(claim) === token) rmSync(claim, { force: true });
  }
}

/**
 * Removes claims of processes that died while they cleared. Their target is gone, so a process that still waits for such a claim clears nothing.
 */
function removeClaims(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const claim = join(dirname(path), name);
    const owner = parseOwnerName(holderOf(claim) ?? '');
    if (owner !== undefined && isDead(owner)) rmSync(claim, { force: true });
  }
}

/** The holder in a file; empty where it is not a small regular file, as it may have come with a repository. Undefined where it is missing. */
function holderOf(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'ENXIO') return '';
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= HOLDER_BYTES ? readFileSync(descriptor, 'latin1') : '';
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the file with its content in one step; false where it exists already. */
function linked(path: string, token: string): boolean {
  const aside = writeAside(dirname(path), token);
  try {
    linkSync(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function held(path: string, reason: string, hint = 'Try again when that process is done.'): SkillcellError {
  return new SkillcellError(
    'store.conflict',
    `Cannot change the skills: ${quotedText(basename(path))} exists, and ${reason}.`,
    { hint },
  );
}
