import { approveSkills } from '../../library/install/approve-skills.ts';
import { type CommandContext, flagValue } from '../options/command.ts';
import { existingLock } from '../options/existing-lock.ts';
import { escapeLine } from '../terminal/escape-controls.ts';
import { usageError } from '../terminal/usage-error.ts';

const WHO = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u;

/** `skillcell skills approve`: writes down who has looked at which bytes. */
export async function runApprove(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const as = flagValue(given, 'as') ?? '';
  if (as.trim() === '' || !WHO.test(as))
    throw usageError('--as', 'it must be a name of 1 to 200 characters on one line', as);
  const lockFile = existingLock(context);
  const approved = await approveSkills({ lockFile, refs: given.operands, as, signal: interruption.signal });
  const rows = approved.map(({ id, digest }) => ({ id, digest, by: as }));
  if (json) await output.json({ approved: rows });
  else
    for (const { id, digest } of rows) await output.text(escapeLine(`approved ${id} ${digest} by ${as}`).concat('\n'));
  return 0;
}
