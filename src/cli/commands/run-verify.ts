import { verifySkillsLock, type VerifiedEntry } from '../../library/install/verify-skills-lock.ts';
import { verifySkills } from '../../library/install/verify-skills.ts';
import { SKILLS_LOCK_FILE } from '../../library/lock/skills-lock.ts';
import { BUILTIN_FOLDER } from '../options/builtin-folder.ts';
import type { CommandContext } from '../options/command.ts';
import { deviationLine } from '../options/deviation-line.ts';
import { existingLock, isLocked } from '../options/existing-lock.ts';
import { lockPlace } from '../options/lock-place.ts';
import { escapeLine } from '../terminal/escape-controls.ts';

/** `skillcell skills verify`: exit code 1 when a file is not as it is locked. */
export async function runVerify(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const refs = given.operands;
  const { lockFile: asked } = lockPlace(context);
  const entries = isLocked(asked) || refs.length > 0 ? undefined : verifySkillsLock(asked);
  if (entries !== undefined) return await tellEntries(context, entries);
  const options = { lockFile: existingLock(context), refs, builtinFolder: BUILTIN_FOLDER, signal: interruption.signal };
  const rows = (await verifySkills(options)) ?? [];
  if (json) await output.json({ skills: rows });
  else
    for (const { id, isApproved, deviations } of rows) {
      const state = deviations.length > 0 ? 'CHANGED' : isApproved ? 'as locked, approved' : 'as locked';
      await output.text(`${id}: ${state}\n`);
      for (const row of deviations) await output.text(`  ${deviationLine(row)}\n`);
    }
  return rows.every(({ deviations }) => deviations.length === 0) ? 0 : 1;
}

const STATES = { same: 'as locked', changed: 'CHANGED', missing: 'MISSING' } as const;

/** Where only another tool has locked skills. */
async function tellEntries({ output, json }: CommandContext, entries: readonly VerifiedEntry[]): Promise<number> {
  if (json) await output.json({ lock: SKILLS_LOCK_FILE, skills: entries });
  else
    for (const { name, place, state, reason } of entries) {
      const more = reason === undefined ? '' : `: ${reason}`;
      await output.text(`${escapeLine(`${name} in ${place}: ${STATES[state]} by ${SKILLS_LOCK_FILE}${more}`)}\n`);
    }
  return entries.every(({ state }) => state === 'same') ? 0 : 1;
}
