import { installSkills } from '../../library/install/install-skills.ts';
import type { CommandContext } from '../options/command.ts';
import { existingLock } from '../options/existing-lock.ts';
import { privateHosts } from '../options/private-hosts.ts';
import { withCache } from '../options/with-cache.ts';
import { deviationLine } from '../options/deviation-line.ts';
import { escapeLine } from '../terminal/escape-controls.ts';

/** `skillcell skills install`: brings back what is locked. */
export async function runInstall(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json, interruption } = context;
  const lockFile = existingLock(context);
  const frozen = given.flags.has('frozen');
  const { signal } = interruption;
  const allowPrivate = privateHosts(io);
  const rows = await withCache(
    io,
    async (cache) => await installSkills({ lockFile, cache, allowPrivate, frozen, signal }),
  );
  if (json) await output.json({ skills: rows });
  else
    for (const { id, place, state, deviations } of rows) {
      await output.text(`${state} ${id} in ${escapeLine(place)}\n`);
      if (state === 'restored') for (const row of deviations) await output.text(`  was ${deviationLine(row)}\n`);
    }
  return 0;
}
