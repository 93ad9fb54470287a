import { verifySkillsLock, type VerifiedEntry } from '../../../library/install/verify-skills-lock.ts';
import { verifySkills } from '../../../library/install/verify-skills.ts';
import { SKILLS_LOCK_FILE } from '../../../library/lock/format/skills-lock.ts';
import { BUILTIN_FOLDER } from '../../options/skills/builtin-folder.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { deviationLine } from '../../terminal/deviation-line.ts';
import { existingLock, isLocked } from '../../options/skills/existing-lock.ts';
import { lockPlace } from '../../options/skills/lock-place.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/** `skillcell skills verify`: exit code 1 when a file differs from the lock file. */
export async function runVerify(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const refs = given.operands;
  const { lockFile: asked } = lockPlace(context);
  const entries = isLocked(asked) || refs.length > 0 ? undefined : verifySkillsLock(asked);
  if (entries !== undefined) {
    if (json) await output.json({ lock: SKILLS_LOCK_FILE, skills: entries });
    else await tellEntries(context, entries);
    return hold(entries) ? 0 : 1;
  }
  const options = { lockFile: existingLock(context), refs, builtinFolder: BUILTIN_FOLDER, signal: interruption.signal };
  const rows = (await verifySkills(options)) ?? [];
  const places = new Set(rows.flatMap(({ place }) => place ?? []));
  const others = refs.length > 0 ? undefined : verifySkillsLock(options.lockFile, places);
  if (json) await output.json({ skills: rows, ...(others === undefined ? {} : { skillsLock: others }) });
  else {
    for (const { id, isApproved, deviations } of rows) {
      const state = deviations.length > 0 ? 'CHANGED' : isApproved ? 'as locked, approved' : 'as locked';
      await output.text(`${id}: ${state}\n`);
      for (const row of deviations) await output.text(`  ${deviationLine(row)}\n`);
    }
    await tellEntries(context, others ?? []);
  }
  return rows.every(({ deviations }) => deviations.length === 0) && hold(others ?? []) ? 0 : 1;
}

const STATES = { same: 'as locked', changed: 'CHANGED', missing: 'MISSING', 'not-compared': 'not compared' } as const;

/** Prints the comparison with the lock file of another tool. */
async function tellEntries({ output }: CommandContext, entries: readonly VerifiedEntry[]): Promise<void> {
  for (const { name, place, state, reason } of entries) {
    const more = reason === undefined ? '' : `: ${reason}`;
    await output.text(`${escapeLine(`${name} in ${place}: ${STATES[state]} by ${SKILLS_LOCK_FILE}${more}`)}\n`);
  }
}

function hold(entries: readonly VerifiedEntry[]): boolean {
  return entries.every(({ state }) => state === 'same' || state === 'not-compared');
}
