import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillFile } from '../../contracts/skill.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { compareLocked } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/lock-format.ts';
import { deviationDiagnostics } from './deviation-diagnostics.ts';

/** What would take the place of a folder. */
export interface Replacement {
  /** Absolute path of the folder that places are below. */
  root: string;
  place: string;
  id: string;
  /** The new files; null where the folder goes. */
  files: readonly SkillFile[] | null;
  /** What is locked there. */
  locked: LockedSkill | undefined;
}

/**
 * Refuses to replace a folder that somebody has changed, or has made himself: what is in it would be lost.
 *
 * @throws SkillcellError `lock.mismatch`, with a diagnostic a file
 */
export function assertReplaceable({ root, place, id, files, locked }: Replacement): void {
  if (lstatSync(join(root, place), { throwIfNoEntry: false }) === undefined) return;
  if (files !== null && compareLocked(root, { id, place, files }).length === 0) return;
  if (locked === undefined || locked.place !== place)
    throw new SkillcellError(
      'lock.mismatch',
      `Cannot replace the skill: there is a folder that is not locked, got ${place}.`,
      { hint: 'Move it away, or replace it by --force.' },
    );
  const rows = compareLocked(root, locked).filter(({ state }) => state !== 'missing');
  if (rows.length === 0) return;
  throw new SkillcellError(
    'lock.mismatch',
    `Cannot replace the skill: its folder was changed by somebody else, got ${place}.`,
    {
      hint: 'Keep the changes elsewhere, then `skillcell skills install` brings back what is locked; --force drops them.',
      diagnostics: deviationDiagnostics(rows),
    },
  );
}
