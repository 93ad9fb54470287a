import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { archiveRefused } from '../../archives/archive-refused.ts';
import { leftOutDiagnostics } from '../../archives/left-out.ts';
import { packSkill } from '../../archives/pack-skill.ts';
import { readSkillFolder, type SkillFolderFiles } from '../../archives/read-skill-folder.ts';
import { writeNewFile } from '../../durable/write-new-file.ts';
import { SKILL_FILE } from '../../skills/load/skill-file-name.ts';
import { type CommandContext, flagValue } from '../options/command.ts';
import { newPlace } from '../options/new-place.ts';
import { unreadable } from '../terminal/input-file.ts';
import { usageError } from '../terminal/usage-error.ts';
import { reportArchive } from '../job/report-archive.ts';
import { writeAt } from '../job/write-at.ts';

/** `skillcell skills pack`. */
export async function runPack(context: CommandContext): Promise<number> {
  const { arguments: given, io } = context;
  const [shown = ''] = given.operands;
  const folder = resolve(io.cwd(), shown);
  const name = basename(folder);
  const place = newPlace(flagValue(given, 'output') ?? `${name}.skill`, io);
  if (!/\.(?:zip|skill)$/i.test(place.name))
    throw usageError('--output', 'it must end in .zip or .skill, which is what is written', place.shown);
  try {
    const { tree: all, diagnostics } = filesOf(folder, shown);
    const { archive, tree, leftOut } = await packSkill(name, all, { store: given.flags.has('store') });
    writeAt(place, () => writeNewFile(place.path, archive));
    const found = [...diagnostics, ...leftOutDiagnostics(leftOut)];
    return await reportArchive(context, { file: place.shown, bytes: archive.length }, tree, found);
  } catch (error) {
    throw archiveRefused(error, JSON.stringify(shown), 'pack the skill');
  }
}

function filesOf(folder: string, shown: string): SkillFolderFiles {
  let files: SkillFolderFiles | undefined;
  try {
    files = readSkillFolder(realpathSync.native(folder));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw unreadable('DIR', code === 'ENOENT' ? 'there is no such folder' : message, shown);
  }
  if (files === undefined) throw unreadable('DIR', `it holds no ${SKILL_FILE}`, shown);
  return files;
}
