import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** The clock of a file system goes by ticks of at most 10 ms: two changes within one leave equal times. */
const TICK_MS = 25;
const WALKS = 40;

/** What one walk through a folder found. */
export interface FolderWalk {
  /** When a file of each skill was changed last, in ms since 1970. */
  skills: readonly { changedAt: number }[];
  /** Equal where nothing has changed. */
  print: string;
}

/**
 * Walks through a folder until two walks, one after the other, find the same: then the folder was in that state between them, and no later
 * change leaves the revisions as they are.
 *
 * @param walk rejects with the system's error when something goes away on the way
 * @param earlier what an earlier call gave; where nothing has changed since, one walk is enough
 * @param shown the folder in the error
 * @throws SkillcellError `store.unavailable` when the folder does not rest
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
    `Cannot list the skills: the folder changes faster than it can be looked at, got ${shown}.`,
  );
}

/** Undefined when something went away on the way: then the next walk tells what there is. */
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
