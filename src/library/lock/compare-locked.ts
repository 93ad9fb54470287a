import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import { SKILL_ENTRIES } from '../../skills/load/files/list-skill-files.ts';
import { SKILL_BYTES } from '../../skills/load/read-manifest.ts';
import { compareCodePoints } from '../../skills/text/text.ts';
import { hashFile } from '../../durable/hash-file.ts';
import type { LockedSkill } from './format/lock-format.ts';

/** A difference between a skill and its lock entry. */
export interface Deviation {
  id: string;
  /** Path below the skill's folder, `.` for the folder itself. */
  path: string;
  state: 'changed' | 'missing' | 'added';
  /** Details, where the state does not tell them. */
  reason?: string;
}

/** Reason of a last row after which the comparison stopped. */
export const UNSEEN = 'further files were not compared';

/**
 * Compares the folder of a locked skill with its lock entry, every byte and mode. Names that a loader leaves out, such as links and `node_modules`,
 * are included, as other programs read them.
 *
 * @param root absolute path of the folder that places are relative to
 * @param skill has a place
 * @returns in the order of the paths; empty where nothing deviates
 */
export function compareLocked(root: string, skill: Pick<LockedSkill, 'id' | 'place' | 'files'>): Deviation[] {
  return compareFolder(join(root, skill.place ?? '.'), skill);
}

/** The same comparison for a given folder. */
export function compareFolder(folder: string, { id, files }: Pick<LockedSkill, 'id' | 'files'>): Deviation[] {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return files.map(({ path }) => ({ id, path, state: 'missing' }));
  if (!stats.isDirectory()) return [{ id, path: '.', state: 'changed', reason: 'no folder' }];
  const rest = new Map(files.map((file) => [file.path, file]));
  const rows = visit(folder, rest);
  for (const path of rest.keys()) rows.push({ path, state: 'missing' });
  return rows.map((row) => ({ id, ...row })).toSorted((a, b) => compareCodePoints(a.path, b.path));
}

type Row = Omit<Deviation, 'id'>;

/** Removes every file that it finds from `rest`. */
function visit(top: string, rest: Map<string, SkillFile>): Row[] {
  const rows: Row[] = [];
  let [entries, bytes] = [0, SKILL_BYTES];
  const pending = [''];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    let listed: Dirent[];
    try {
      listed = readdirSync(`${top}/${below}`, { withFileTypes: true });
    } catch (error) {
      rows.push({ path: below.slice(0, -1) || '.', state: 'changed', reason: (error as Error).message });
      continue;
    }
    for (const entry of listed) {
      const path = below + entry.name;
      entries += 1;
      if (entries > SKILL_ENTRIES) return [...rows, { path, state: 'added', reason: UNSEEN }];
      if (entry.isDirectory()) pending.push(`${path}/`);
      else if (entry.isFile()) {
        const { row, read } = compareFile(`${top}/${path}`, rest.get(path), path, bytes);
        bytes -= read;
        if (row !== undefined) rows.push(row);
        rest.delete(path);
      } else rows.push({ path, state: rest.delete(path) ? 'changed' : 'added', reason: 'no regular file' });
    }
  }
  return rows;
}

function compareFile(
  place: string,
  then: SkillFile | undefined,
  path: string,
  limit: number,
): { row?: Row; read: number } {
  if (then === undefined) return { row: { path, state: 'added' }, read: 0 };
  try {
    const now = hashFile(place, limit);
    const read = now.bytes;
    if (now.digest !== then.digest) return { row: { path, state: 'changed' }, read };
    if (now.executable === then.executable) return { read };
    const reason = now.executable ? 'it became executable' : 'it is no longer executable';
    return { row: { path, state: 'changed', reason }, read };
  } catch (error) {
    return { row: { path, state: 'changed', reason: (error as Error).message }, read: 0 };
  }
}
