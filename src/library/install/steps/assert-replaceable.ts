import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillFile } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { compareLocked, type Deviation } from '../../lock/compare-locked.ts';
import type { LockedSkill } from '../../lock/format/lock-format.ts';
import { isChangedCopy, isOwnSource } from './changed-copy.ts';
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
  if (locked === undefined || locked.place !== place) throw notReplaced('there is a folder that is not locked', place);
  const rows = compareLocked(root, locked);
  assertRestorable(root, locked, rows, files === null ? 'remove' : 'replace');
  const lost = rows.filter(({ state }) => state !== 'missing');
  if (lost.length === 0) return;
  throw new SkillcellError(
    'lock.mismatch',
    `Cannot replace the skill: its folder was changed by somebody else, got ${place}.`,
    {
      hint: 'Keep the changes elsewhere and remove what was added, then `skillcell skills install` brings back what is locked; --force drops them.',
      diagnostics: deviationDiagnostics(lost),
    },
  );
}

/**
 * Refuses to bring back what is locked where that would drop more than changes of this very skill: a lock file names a folder, and whoever wrote
 * that file need not be who filled the folder.
 *
 * @param rows all that deviates from what is locked
 * @throws SkillcellError `lock.mismatch`
 */
export function assertRestorable(
  root: string,
  locked: LockedSkill,
  rows: readonly Deviation[],
  action: 'replace' | 'remove' = 'replace',
): void {
  const place = locked.place ?? '.';
  if (lstatSync(join(root, place), { throwIfNoEntry: false }) === undefined) return;
  if (isOwnSource(root, locked))
    throw notReplaced('its folder is where it comes from, and there is no other copy', place, action);
  const isLost = rows.some(({ state }) => state !== 'missing');
  if (isLost && !isChangedCopy(root, locked, rows))
    throw notReplaced(`what is there is no copy of ${locked.id}`, place, action);
}

/**
 * Refuses to bring back what is locked where files lie that somebody has added: no lock and no source has them. What has changed is what is brought
 * back.
 *
 * @param rows all that deviates from what is locked
 * @throws SkillcellError `lock.mismatch`, with a diagnostic a file
 */
export function assertNothingAdded(place: string, rows: readonly Deviation[]): void {
  const added = rows.filter(({ state }) => state === 'added');
  if (added.length === 0) return;
  const message = `Cannot install the skill: its folder has files that are not locked, got ${place}.`;
  throw new SkillcellError('lock.mismatch', message, {
    hint: 'Move them away, or drop them by --force.',
    diagnostics: deviationDiagnostics(added),
  });
}

function notReplaced(reason: string, place: string, action: 'replace' | 'remove' = 'replace'): SkillcellError {
  return new SkillcellError('lock.mismatch', `Cannot ${action} the skill: ${reason}, got ${place}.`, {
    hint: `Move it away, or ${action} it by --force.`,
  });
}
