import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { type SkillWalk, walkSkills } from './walk-skills.ts';

/** The clock of a file system goes by ticks of at most 10 ms: two changes within one leave equal times. */
const TICK_MS = 25;
const WALKS = 40;

/** A walk of a folder as the folder was at one moment. */
export interface SteadyWalk extends SkillWalk {
  /** Equal where nothing has changed. */
  print: string;
}

/**
 * Walks through a folder until two walks, one after the other, find the same: then the folder was in that state between them, and no later
 * change leaves the revisions as they are.
 *
 * @param root absolute path of an existing folder, links resolved
 * @param earlier what an earlier call gave; where nothing has changed since, one walk is enough
 * @throws SkillcellError `store.unavailable` when the folder does not rest
 */
export async function walkUntilSteady(
  root: string,
  earlier: SteadyWalk | undefined,
  signal: AbortSignal | undefined,
): Promise<SteadyWalk> {
  let last = earlier;
  for (let walks = 0; walks < WALKS; walks += 1) {
    signal?.throwIfAborted();
    const started = Date.now();
    const walk = walkOnce(root);
    if (walk !== undefined && walk.print === last?.print && !isFresh(walk, started)) {
      return walk.print === earlier?.print ? earlier : walk;
    }
    if (walk !== undefined && isFresh(walk, started)) await sleep(TICK_MS, undefined, { signal });
    last = walk;
  }
  throw new SkillcellError(
    'store.unavailable',
    `Cannot list the skills: the folder changes faster than it can be looked at, got ${root}.`,
  );
}

/** Undefined when something went away on the way: then the next walk tells what there is. */
function walkOnce(root: string): SteadyWalk | undefined {
  try {
    const walk = walkSkills(root);
    const skills = walk.skills.map(({ folder, revision }) => `${folder.dir}\0${folder.skillFile}\0${revision}\n`);
    return { ...walk, print: `${skills.join('')}${JSON.stringify(walk.diagnostics)}` };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function isFresh({ skills }: SkillWalk, now: number): boolean {
  return skills.some(({ changedAt }) => changedAt > now - TICK_MS && changedAt <= now + TICK_MS);
}
