import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillFile } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { compareLocked, type Deviation } from '../../lock/compare-locked.ts';
import type { LockedSkill } from '../../lock/format/lock-format.ts';
import { isChangedCopy, isOwnSource } from './changed-copy.ts';
import { deviationDiagnostics } from './deviation-diagnostics.ts';

/** A planned replacement of a folder. */
export interface Replacement {
  /** Absolute path of the folder that places are relative to. */
  root: string;
  place: string;
  id: string;
  /** The new files; null where the folder is removed. */
  files: readonly SkillFile[] | null;
  /** The skill that is locked at this place. */
  locked: LockedSkill | undefined;
}

/**
 * Refuses to replace a folder with local changes, or of unknown origin: its content would be lost.
 *
 * @throws SkillcellError `lock.mismatch`, with a diagnostic for each file
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
    `Cannot replace the skill: its folder ${quotedText(place)} has local changes.`,
    {
      hint: 'Save the changes elsewhere and remove added files; then `skillcell skills install` restores the locked bytes. --force drops the changes.',
      diagnostics: deviationDiagnostics(lost),
    },
  );
}

/**
 * Refuses to restore locked bytes where that would drop more than changes to this very skill. A lock file may name a folder that its author never
 * filled.
 *
 * @param rows all deviations from the lock
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
    throw notReplaced('its folder is its own source, and there is no other copy', place, action);
  const isLost = rows.some(({ state }) => state !== 'missing');
  if (isLost && !isChangedCopy(root, locked, rows))
    throw notReplaced(`its folder is not a copy of ${locked.id}`, place, action);
}

/**
 * Refuses to restore locked bytes where files were added: no lock and no source has them. Changed files are restored.
 *
 * @param rows all deviations from the lock
 * @throws SkillcellError `lock.mismatch`, with a diagnostic for each file
 */
export function assertNothingAdded(place: string, rows: readonly Deviation[]): void {
  const added = rows.filter(({ state }) => state === 'added');
  if (added.length === 0) return;
  const message = `Cannot install the skill: its folder ${quotedText(place)} has files that are not locked.`;
  throw new SkillcellError('lock.mismatch', message, {
    hint: 'Move them away, or drop them by --force.',
    diagnostics: deviationDiagnostics(added),
  });
}

function notReplaced(reason: string, place: string, action: 'replace' | 'remove' = 'replace'): SkillcellError {
  return new SkillcellError('lock.mismatch', `Cannot ${action} the skill in ${quotedText(place)}: ${reason}.`, {
    hint: `Move it away, or ${action} it by --force.`,
  });
}
