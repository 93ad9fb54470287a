import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { hash, randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { removeTorn, writeAside } from '../../durable/durable-file.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';

/** How long another process may hold what this one waits for. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 20;
/** More than any that is written. */
const HOLDER_BYTES = 4_096;

/** What waits. */
export interface ExclusiveOptions {
  signal?: AbortSignal | undefined;
  /** @default 60,000 */
  patienceMs?: number | undefined;
}

/**
 * Does some work while no other process does any under the same name. The name is a file that says who holds it: of a holder that died, by
 * whatever signal, the next one takes it over.
 *
 * @param path absolute path of that file, in an existing folder
 * @throws SkillcellError `store.conflict` where a living process does not let go of it
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
    if (owner === undefined) throw held(path, 'it was not written by skillcell', 'Look at what it is, and remove it.');
    if (isDead(owner)) await clear(path, holder, until, signal);
    else if (Date.now() > until) throw held(path, `the process ${owner.pid} holds it`);
    else await sleep(PAUSE_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/**
 * Takes the name from a dead holder. Only who holds the claim on that very holder may, so that nobody takes from a living one what he saw a
 * dead one have.
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

/** Claims of those who died while they cleared: their holder is gone, and whoever still waits for one clears nothing. */
function removeClaims(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const claim = join(dirname(path), name);
    const owner = parseOwnerName(holderOf(claim) ?? '');
    if (owner !== undefined && isDead(owner)) rmSync(claim, { force: true });
  }
}

/** What a name says: nothing where it is no file that was written here, since it may have come with a repository. */
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

/** The file is there with what it says, or it is not. */
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

function held(path: string, reason: string, hint = 'Try again when the other one is done.'): SkillcellError {
  return new SkillcellError('store.conflict', `Cannot change the skills: ${reason}, got ${basename(path)}.`, { hint });
}
