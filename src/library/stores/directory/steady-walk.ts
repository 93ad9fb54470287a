import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** A file system's clock ticks every 10 ms at most: two changes within one tick leave equal times. */
const TICK_MS = 25;
const WALKS = 40;

/** Result of one walk through a folder. */
export interface FolderWalk {
  /** Time of the last change to a file of each skill, in ms since 1970. */
  skills: readonly { changedAt: number }[];
  /** Equal where nothing has changed. */
  print: string;
}

/**
 * Walks through a folder until two consecutive walks find the same. The folder was in that state between them, and every later change alters a
 * revision.
 *
 * @param walk rejects with the system's error when a name disappears during the walk
 * @param earlier result of an earlier call; without changes since then, one walk is enough
 * @param shown the folder in the error
 * @throws SkillcellError `store.unavailable` when the folder keeps changing
 */
export async function walkUntilSteady<Walk extends FolderWalk>(
  walk: () => Walk | Promise<Walk>,
  earlier: Walk | undefined,
  shown: string,
  signal: AbortSignal | undefined,
): Promise<Walk> {
  let last = earlier;
  for (let walks = 0; walks < WALKS; walks += 1) {
    signal?.throwIfAborted();
    const started = Date.now();
    const found = await walkOnce(walk);
    const fresh = found !== undefined && isFresh(found, started);
    if (found !== undefined && found.print === last?.print && !fresh)
      return earlier !== undefined && found.print === earlier.print ? earlier : found;
    if (fresh) await sleep(TICK_MS, undefined, { signal });
    last = found;
  }
  throw new SkillcellError(
    'store.unavailable',
    `Cannot list the skills: the folder changes faster than it can be read, got ${shown}.`,
  );
}

/** Undefined when a name disappeared during the walk: the next walk sees the new state. */
async function walkOnce<Walk>(walk: () => Walk | Promise<Walk>): Promise<Walk | undefined> {
  try {
    return await walk();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function isFresh({ skills }: FolderWalk, now: number): boolean {
  return skills.some(({ changedAt }) => changedAt > now - TICK_MS && changedAt <= now + TICK_MS);
}
