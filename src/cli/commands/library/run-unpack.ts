import { basename } from 'node:path';
import { archiveRefused } from '../../../archives/checks/archive-refused.ts';
import { onlySkill, openArchive } from '../../../archives/open-archive.ts';
import { readArchiveFile } from '../../../archives/read-archive-file.ts';
import { skillName } from '../../../archives/skill-name.ts';
import { writeTree } from '../../../durable/write-tree.ts';
import { validateFolders } from '../../../skills/load/validate-folders.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { newPlace, type NewPlace } from '../../options/places/new-place.ts';
import { checkInputFile, unreadable } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { reportArchive } from '../../job/report-archive.ts';
import { writeAt } from '../../job/write-at.ts';

/** `skillcell skills unpack`. */
export async function runUnpack(context: CommandContext): Promise<number> {
  const { arguments: given, io, interruption } = context;
  const [shown = ''] = given.operands;
  const { source } = checkInputFile('FILE', shown, io);
  const asked = flagValue(given, 'output');
  // Fails before the archive is read.
  if (asked !== undefined) newPlace(asked, io);
  try {
    const { bytes } = await readArchiveFile(source).catch((error: NodeJS.ErrnoException) => {
      throw error.code === undefined ? error : unreadable('FILE', error.message, shown);
    });
    const opened = await openArchive(bytes, { signal: interruption.signal });
    const { folder, tree } = onlySkill(opened);
    const place = newPlace(asked ?? ownName(skillName(folder, basename(source)), shown), io);
    interruption.signal.throwIfAborted();
    writeAt(place, () => writeTree(place.parent, place.name, tree, 'plain'));
    return await reportArchive(context, { folder: place.shown }, tree, [...opened.diagnostics, ...findings(place)]);
  } catch (error) {
    throw archiveRefused(error, JSON.stringify(shown));
  }
}

function ownName(name: string, shown: string): string {
  if (name !== '') return name;
  throw usageError('FILE', 'the archive does not name the skill; use --output DIR', shown);
}

/** Findings of a loader about the folder, such as a name that differs from the one in its SKILL.md. */
function findings({ path, shown }: NewPlace): ReturnType<typeof validateFolders>[number]['diagnostics'] {
  return validateFolders(path)
    .flatMap(({ diagnostics }) => diagnostics)
    .map((found) => ({ ...found, ...(found.path === undefined ? {} : { path: `${shown}/${found.path}` }) }));
}
