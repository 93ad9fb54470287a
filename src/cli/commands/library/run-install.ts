import { importSkillsLock } from '../../../library/install/import-skills-lock.ts';
import { installSkills } from '../../../library/install/install-skills.ts';
import type { TreeCache } from '../../../library/stores/cache/tree-cache.ts';
import { BUILTIN_FOLDER } from '../../options/skills/builtin-folder.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { tokensFromFlags } from '../../options/flags/credential-flag.ts';
import { existingLock, isLocked } from '../../options/skills/existing-lock.ts';
import { privateHosts } from '../../options/flags/private-hosts.ts';
import { lockPlace } from '../../options/skills/lock-place.ts';
import { shownPlace } from '../../options/skills/shown-place.ts';
import { withCache } from '../../options/skills/with-cache.ts';
import { deviationLine } from '../../terminal/deviation-line.ts';

/** `skillcell skills install`: restores the locked skills. */
export async function runInstall(context: CommandContext): Promise<number> {
  return await withCache(context.io, async (cache) => await install(context, cache));
}

async function install(context: CommandContext, cache: TreeCache): Promise<number> {
  const { arguments: given, io, output, json, interruption } = context;
  const { signal } = interruption;
  const [frozen, force] = [given.flags.has('frozen'), given.flags.has('force')];
  const options = { cache, allowPrivate: privateHosts(io), tokens: tokensFromFlags(context), signal };
  const { lockFile: asked } = lockPlace(context);
  // --frozen skips the import: skills of another tool's lock file are not approved.
  const imported =
    isLocked(asked) || frozen ? undefined : await importSkillsLock({ lockFile: asked, ...options, force });
  if (imported !== undefined) {
    if (json) await output.json({ skills: imported });
    else
      for (const { id, place, state } of imported)
        await output.text(`${state} ${id} in ${shownPlace(place, asked, io)}\n`);
    return 0;
  }
  const lockFile = existingLock(context);
  const rows = await installSkills({ lockFile, ...options, frozen, force, builtinFolder: BUILTIN_FOLDER });
  if (json) await output.json({ skills: rows });
  else
    for (const { id, place, state, deviations } of rows) {
      const where = place === null ? 'the package' : shownPlace(place, lockFile, io);
      const why = state === 'left' ? ': other bytes were locked meanwhile, run it again' : '';
      await output.text(`${state} ${id} in ${where}${why}\n`);
      if (state === 'restored') for (const row of deviations) await output.text(`  was ${deviationLine(row)}\n`);
    }
  return 0;
}
