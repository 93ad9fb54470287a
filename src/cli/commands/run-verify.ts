import { verifySkills } from '../../library/install/verify-skills.ts';
import type { CommandContext } from '../options/command.ts';
import { deviationLine } from '../options/deviation-line.ts';
import { existingLock } from '../options/existing-lock.ts';

/** `skillcell skills verify`: exit code 1 when a file is not as it is locked. */
export async function runVerify(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const lockFile = existingLock(context);
  const rows = (await verifySkills({ lockFile, refs: given.operands, signal: interruption.signal })) ?? [];
  if (json) await output.json({ skills: rows });
  else
    for (const { id, isApproved, deviations } of rows) {
      const state = deviations.length > 0 ? 'CHANGED' : isApproved ? 'as locked, approved' : 'as locked';
      await output.text(`${id}: ${state}\n`);
      for (const row of deviations) await output.text(`  ${deviationLine(row)}\n`);
    }
  return rows.every(({ deviations }) => deviations.length === 0) ? 0 : 1;
}
