import { removeSkills } from '../../../library/install/remove-skills.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { existingLock } from '../../options/skills/existing-lock.ts';
import { noteDiagnostics } from '../../options/skills/skills-context.ts';

/** `skillcell skills remove`: removes skills with their folders. */
export async function runRemove(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const [lockFile, force] = [existingLock(context), given.flags.has('force')];
  const { signal } = interruption;
  const { removed, diagnostics } = await removeSkills({ lockFile, refs: given.operands, force, signal });
  if (json) await output.json({ removed, diagnostics });
  else {
    for (const id of removed) await output.text(`removed ${id}\n`);
    await noteDiagnostics(context, diagnostics);
  }
  return 0;
}
