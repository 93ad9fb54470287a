import { withoutEnd } from '../../contracts/text/without-end.ts';
import type { InputFile } from '../../contracts/jobs/job.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { shownPathFault } from '../../protocol/files/shown-path.ts';

/** Limits of an archive. */
export interface ArchiveCaps {
  files: number;
  bytes: number;
}

/**
 * Reads the regular files of a TAR archive, as input files of a job. Folders need no entries. Links, devices, two entries with the same
 * name, and paths that leave the workspace are refused.
 *
 * @throws SkillcellError `archive.refused`, before any of its files is used
 */
export async function readArchive(archive: Uint8Array, caps: ArchiveCaps): Promise<InputFile[]> {
  const { extract } = await import('tar-stream');
  const entries = extract();
  const files = new Map<string, InputFile>();
  let total = 0;
  entries.end(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength));
  try {
    for await (const entry of entries) {
      const { name, type, size, mode } = entry.header;
      const path = plainPath(name);
      if (type === 'directory' || path === '') {
        if (type !== 'directory') throw refused('an entry has no name');
        if (path !== '') requireName(path);
        entry.resume();
        continue;
      }
      if (type !== 'file' && type !== 'contiguous-file')
        throw refused(`an entry is no regular file, got ${type ?? 'none'}`);
      requireName(path);
      if (files.has(path)) throw refused(`two entries have the same name, got ${JSON.stringify(path)}`);
      if (files.size >= caps.files) throw refused(`over ${caps.files} files`);
      total += size;
      if (!(size >= 0) || total > caps.bytes) throw refused(`over ${caps.bytes} bytes`);
      const pieces: Buffer[] = [];
      for await (const piece of entry) pieces.push(piece as Buffer);
      const bytes = Buffer.concat(pieces);
      if (bytes.length !== size) throw refused('an entry ends early');
      files.set(path, { destination: path, bytes, executable: (mode & 0o111) !== 0 });
    }
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    throw refused((error as Error).message.replace(/\.$/, ''), error);
  }
  for (const path of files.keys()) requireFolders(path, files);
  return [...files.values()];
}

/** Normalizes names as `tar` writes them: `./data/a.csv`, `data/`. */
function plainPath(name: string): string {
  return withoutEnd(name.replace(/^(?:\.\/)+/, '').replace(/^\.$/, ''), '/');
}

function requireName(path: string): void {
  const fault = shownPathFault(path);
  if (fault !== undefined) throw refused(`${fault}, got ${JSON.stringify(path.slice(0, 200))}`);
}

function requireFolders(path: string, files: ReadonlyMap<string, InputFile>): void {
  for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) {
    const above = path.slice(0, cut);
    if (files.has(above)) throw refused(`a file stands where a folder should, got ${JSON.stringify(above)}`);
  }
}

function refused(reason: string, cause?: unknown): SkillcellError {
  return new SkillcellError('archive.refused', `Cannot take the archive: ${reason}.`, { cause });
}
