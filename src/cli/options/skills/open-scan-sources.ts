import { realpathSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { archiveForm } from '../../../contracts/skills/archive-ending.ts';
import { ARCHIVE_LIMITS } from '../../../archives/checks/archive-limits.ts';
import { archiveRefused, ArchiveRefusal } from '../../../archives/checks/archive-refused.ts';
import { readTar } from '../../../archives/tar/read-tar.ts';
import { readZip } from '../../../archives/zip/read-zip.ts';
import { isSkillFileName } from '../../../skills/load/files/skill-file-name.ts';
import { readFolder } from '../../../scan/read/read-folder.ts';
import type { ScanSource } from '../../../scan/read/scan-source.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { readInputFile, unreadable } from '../../terminal/input-file.ts';

/** The largest single file that is read. */
const FILE_BYTES = 64 * 1024 * 1024;

const READERS = { zip: readZip, tar: readTar } as const;

/** The sources of one operand of a scan. */
export interface OpenedSources {
  sources: Iterable<ScanSource>;
  /** A path of a source as the caller would write it. */
  shown(path: string): string;
}

/**
 * Opens a folder, an archive of skills, or one file. A folder is read skill by skill, as its sources are iterated.
 *
 * @throws SkillcellError `file.unreadable`, `archive.refused`
 */
export async function openScanSources(path: string, io: CliIo): Promise<OpenedSources> {
  const absolute = resolve(io.cwd(), path);
  if (path !== '' && statSync(absolute, { throwIfNoEntry: false })?.isDirectory() === true) {
    try {
      const sources = readFolder(realpathSync.native(absolute));
      return { sources, shown: (below) => join(path, below) };
    } catch (cause) {
      throw unreadable('PATH', (cause as Error).message, path);
    }
  }
  const form = archiveForm(path);
  if (form !== undefined) {
    const source = await archiveSource(
      path,
      readInputFile('PATH', path, ARCHIVE_LIMITS.packedBytes, io),
      READERS[form],
    );
    return { sources: [source], shown: (below) => join(path, below) };
  }
  const bytes = readInputFile('PATH', path, FILE_BYTES, io);
  const executable = (statSync(absolute).mode & 0o111) !== 0;
  const tree = new Map([[basename(path), { bytes, executable }]]);
  return { sources: [{ folder: '.', isSkill: false, tree, unread: [], found: [] }], shown: () => path };
}

async function archiveSource(
  path: string,
  bytes: Uint8Array,
  read: typeof readZip | typeof readTar,
): Promise<ScanSource> {
  try {
    const { tree, leftOut } = await read(bytes);
    const unread = leftOut.map((name) => ({ path: name, bytes: 0, reason: 'left out when the archive is unpacked' }));
    const isSkill = [...tree.keys()].some((name) => isSkillFileName(basename(name)));
    return { folder: '.', isSkill, tree, unread, found: [] };
  } catch (error) {
    if (error instanceof ArchiveRefusal) throw archiveRefused(error, path);
    throw error;
  }
}
