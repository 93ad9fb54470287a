import { chmodSync, chownSync, lstatSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { removeTorn, syncFolder, writeAside } from '../../durable/durable-file.ts';
import { findSkillFolders, type SkillFolder } from '../../skills/load/find-skill-folders.ts';
import { readRegularFile } from '../../skills/load/files/read-regular-file.ts';
import { COMPACT_FILE } from '../../skills/load/read-skill-parts.ts';
import { SKILL_FILE } from '../../skills/load/files/skill-file-name.ts';
import { TEXT_FILE_LIMIT } from '../../skills/text/decode-text.ts';
import { fixPlainText, fixSkillText, type FixedText } from './fix-skill-text.ts';
import type { TextChange } from './text-change.ts';

/** A change in a file of a skill. */
export interface SkillFix extends TextChange {
  /** Absolute path. */
  path: string;
}

/** Options of {@link fixFolders}. */
export interface FixOptions {
  /** Whether a name is required, and only keys of the specification may be added. */
  strict: boolean;
  /** Whether changes are only reported, not written. */
  dryRun: boolean;
}

/**
 * Fixes a skill folder, or every skill folder below a folder. Each file is replaced completely or not at all. A second run
 * finds nothing left to fix.
 *
 * @param path absolute path of a folder
 * @returns the changes, made or proposed, in the order of the folders
 * @throws SkillcellError `store.changed` if another program writes to a file in the meantime
 * @throws the system's error, when a file cannot be written
 */
export function fixFolders(path: string, options: FixOptions): SkillFix[] {
  const root = realpathSync.native(resolve(path));
  const { folders } = findSkillFolders(root);
  return folders.flatMap((folder) =>
    fixFolder(join(root, folder.dir), folder, {
      ...options,
      name: folder.dir === '.' ? basename(resolve(path)) : basename(folder.dir),
    }),
  );
}

function fixFolder(place: string, folder: SkillFolder, options: FixOptions & { name: string }): SkillFix[] {
  const { dryRun, name, strict } = options;
  const fixes: SkillFix[] = [];
  // A killed run may leave temporary files, which would become files of the skill.
  if (!dryRun) removeTorn(place);
  let skillFile = join(place, folder.skillFile);
  if (folder.skillFile !== SKILL_FILE && !isThere(join(place, SKILL_FILE))) {
    fixes.push({ path: skillFile, what: `renamed to ${SKILL_FILE}` });
    if (!dryRun) {
      renameSync(skillFile, join(place, SKILL_FILE));
      syncFolder(place);
      skillFile = join(place, SKILL_FILE);
    }
  }
  fixes.push(...fixFile(skillFile, (bytes) => fixSkillText(bytes, { folder: name, strict }), dryRun));
  if (folder.listing.files.includes(COMPACT_FILE))
    fixes.push(...fixFile(join(place, COMPACT_FILE), fixPlainText, dryRun));
  return fixes;
}

function fixFile(path: string, fix: (bytes: Uint8Array) => FixedText, dryRun: boolean): SkillFix[] {
  const bytes = contentOf(path);
  if (bytes === undefined) return [];
  const { bytes: fixed, changes } = fix(bytes);
  if (changes.length > 0 && !dryRun) replace(path, bytes, fixed);
  return changes.map((change) => ({ path, ...change }));
}

function contentOf(path: string): Uint8Array | undefined {
  try {
    return readRegularFile(path, { keep: TEXT_FILE_LIMIT, limit: TEXT_FILE_LIMIT }).content;
  } catch {
    // Validation reports unreadable files; there is nothing to fix in them.
    return undefined;
  }
}

/** Writes a temporary file and renames it; owner and mode stay. A file that changed since it was read is left alone. */
function replace(path: string, before: Uint8Array, after: Uint8Array): void {
  const aside = writeAside(dirname(path), after);
  try {
    const { mode, uid, gid } = lstatSync(path);
    if (process.getuid?.() === 0) chownSync(aside, uid, gid);
    chmodSync(aside, mode & 0o7777);
    if (!readFileSync(path).equals(before)) {
      const message = `Cannot mend ${quotedText(path)}: the file changed since it was read.`;
      throw new SkillcellError('store.changed', message, { hint: 'Try again when no other program writes to it.' });
    }
    renameSync(aside, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
