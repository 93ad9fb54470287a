import { lstatSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { archiveForm } from '../../../contracts/skills/archive-ending.ts';
import { archiveRefused } from '../../../archives/checks/archive-refused.ts';
import { leftOutDiagnostics } from '../../../archives/checks/left-out.ts';
import { type PackedSkill, packSkill } from '../../../archives/pack-skill.ts';
import { readSkillFolder, type SkillFolderFiles } from '../../../archives/read-skill-folder.ts';
import { writeNewFile } from '../../../durable/write-new-file.ts';
import { SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { newPlace, type NewPlace } from '../../options/places/new-place.ts';
import { unreadable } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { reportArchive } from '../../job/report-archive.ts';
import { writeAt } from '../../job/write-at.ts';

const HINT = `Name the folder of one skill, in which its ${SKILL_FILE} lies; \`skillcell skills new NAME\` begins one.`;

/** `skillcell skills pack`. */
export async function runPack(context: CommandContext): Promise<number> {
  const { arguments: given, io, interruption } = context;
  const [shown = ''] = given.operands;
  const folder = resolve(io.cwd(), shown);
  const name = basename(folder);
  const place = newPlace(flagValue(given, 'output') ?? `${name}.skill`, io, mayBeArchive);
  if (archiveForm(place.name) !== 'zip') throw usageError('--output', 'it must end in .zip or .skill', place.shown);
  try {
    const packed = await packFolder(folder, shown, { store: given.flags.has('store'), own: place.path });
    const { archive, tree, diagnostics: found } = packed;
    await writeUnlessAborted(place, archive, interruption.signal);
    return await reportArchive(context, { file: place.shown, bytes: archive.length }, tree, found);
  } catch (error) {
    throw archiveRefused(error, JSON.stringify(shown), 'pack the skill');
  }
}

/**
 * Packs the folder of a skill.
 *
 * @param shown the path as it was given, for messages
 * @param own path of the archive that is written, which is not part of the skill
 * @throws SkillcellError `file.unreadable`; ArchiveRefusal if the archive would be refused
 */
export async function packFolder(
  folder: string,
  shown: string,
  { store, own }: { store: boolean; own?: string },
): Promise<Pick<PackedSkill, 'archive' | 'tree'> & { diagnostics: Diagnostic[] }> {
  const { tree: all, diagnostics } = filesOf(folder, shown);
  const isOwn = (path: string): boolean => isPackedBefore(path) || join(folder, path) === own;
  const { archive, tree, leftOut } = await packSkill(basename(folder), all, { store, isOwn });
  return { archive, tree, diagnostics: [...diagnostics, ...leftOutDiagnostics(leftOut)] };
}

/** An existing archive stays in place if it has the same bytes. */
function mayBeArchive(path: string): boolean {
  return lstatSync(path).isFile();
}

/** A .skill file at the top of the folder, left by an earlier `pack .`, is not part of the skill. */
function isPackedBefore(path: string): boolean {
  return !path.includes('/') && path.toLowerCase().endsWith('.skill');
}

/** Signals arrive only between turns of the event loop: the pauses let one arrive before the write, and before the report. */
async function writeUnlessAborted(place: NewPlace, archive: Uint8Array, signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
  let isNew = false;
  writeAt(place, () => {
    isNew = writeNewFile(place.path, archive);
    return isNew || isSame(place.path, archive);
  });
  await setImmediate();
  if (signal.aborted && isNew) rmSync(place.path, { force: true });
  signal.throwIfAborted();
}

function isSame(path: string, bytes: Uint8Array): boolean {
  const stats = lstatSync(path);
  return stats.isFile() && stats.size === bytes.length && readFileSync(path).equals(bytes);
}

function filesOf(folder: string, shown: string): SkillFolderFiles {
  let files: SkillFolderFiles | undefined;
  try {
    files = readSkillFolder(realpathSync.native(folder));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === 'ENOTDIR') throw unreadable('DIR', 'it is no folder', shown, HINT);
    throw unreadable('DIR', code === 'ENOENT' ? 'there is no such folder' : message, shown, HINT);
  }
  if (files === undefined) throw unreadable('DIR', `it holds no ${SKILL_FILE}`, shown, HINT);
  return files;
}
