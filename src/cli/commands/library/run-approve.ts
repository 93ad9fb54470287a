import { approveSkills } from '../../../library/install/approve-skills.ts';
import { BUILTIN_FOLDER } from '../../options/skills/builtin-folder.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { lockPlace, makeLockFolder } from '../../options/skills/lock-place.ts';
import { withCache } from '../../options/skills/with-cache.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { usageError } from '../../terminal/usage-error.ts';

const WHO = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u;

/** `skillcell skills approve`: records the reviewer of exact bytes. */
export async function runApprove(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json, interruption } = context;
  const [refs, allBuiltin] = [given.operands, given.flags.has('builtin')];
  const as = flagValue(given, 'as') ?? '';
  if (as.trim() === '' || !WHO.test(as))
    throw usageError('--as', 'it must be a name of 1 to 200 characters on one line', as);
  if (refs.length === 0 && !allBuiltin)
    throw usageError('REF', 'it must name a skill, or --builtin all of the package', '');
  const place = lockPlace(context);
  // The folder may not exist yet: skills of the package are approved without an `add` before.
  makeLockFolder(place);
  const { lockFile } = place;
  const { signal } = interruption;
  const approved = await withCache(io, async (cache) =>
    approveSkills({ lockFile, refs, as, builtinFolder: BUILTIN_FOLDER, allBuiltin, cache, signal }),
  );
  const rows = approved.map(({ id, digest }) => ({ id, digest, by: as }));
  if (json) await output.json({ approved: rows });
  else
    for (const { id, digest } of rows) await output.text(escapeLine(`approved ${id} ${digest} by ${as}`).concat('\n'));
  return 0;
}
