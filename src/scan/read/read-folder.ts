import { lstatSync, readdirSync } from 'node:fs';
import { FileTooLarge, readRegularFile } from '../../skills/load/files/read-regular-file.ts';
import { isSkillFileName } from '../../skills/load/files/skill-file-name.ts';
import { compareCodePoints } from '../../skills/text/text.ts';
import type { ScanSource } from './scan-source.ts';

/** Most bytes that are read of one file, and of all files of one source. Files beyond a limit are listed as unread. */
export interface ReadLimits {
  fileBytes: number;
  sourceBytes: number;
}

const MIB = 1024 * 1024;
const LIMITS: ReadLimits = { fileBytes: 64 * MIB, sourceBytes: 256 * MIB };

/** Folders that the loader skips. */
const NOT_LOADED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** Files in `.git` that git runs by itself. */
const RUN_BY_GIT = /^(?:config|hooks\/[^/]+)$/;

interface Folder {
  /** Path below the root, empty or ending in `/`. */
  below: string;
  /** The skill that contains the folder. */
  skill: ScanSource | undefined;
}

/**
 * Reads a folder for a scan in path order, one source after the other. A source is a folder with a SKILL.md and everything
 * below it, or a single folder outside of skills. Everything that is not read is listed. Links are not followed. No skill is
 * loaded from `.git` and `node_modules`, so only the files that git runs are read there.
 *
 * @param root absolute path of the folder, links resolved
 * @param limits for tests
 * @throws Error when the folder itself can't be read
 */
export function* readFolder(root: string, limits: ReadLimits = LIMITS): Generator<ScanSource> {
  readdirSync(root);
  const pending: Folder[] = [{ below: '', skill: undefined }];
  let current: { source: ScanSource; left: number } | undefined;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { below } = next;
    const { entries, fault } = entriesOf(root, below);
    const isSkill =
      next.skill === undefined && entries.some(({ name, kind }) => kind === 'file' && isSkillFileName(name));
    const skill = next.skill ?? (isSkill ? emptySource(below, true) : undefined);
    const source = skill ?? emptySource(below, false);
    if (current?.source !== source) {
      if (current !== undefined && !isEmpty(current.source)) yield current.source;
      current = { source, left: limits.sourceBytes };
    }
    const folders: Folder[] = [];
    if (fault !== undefined) source.unread.push({ path: ownPath(source, below.slice(0, -1)), bytes: 0, reason: fault });
    for (const { name, kind } of entries) {
      const path = `${below}${name}`;
      const own = ownPath(source, path);
      if (kind === 'folder' && NOT_LOADED.has(name))
        current.left -= addNotLoaded(source, `${root}/${path}`, own, { ...limits, sourceBytes: current.left });
      else if (kind === 'folder') folders.push({ below: `${path}/`, skill });
      else if (kind === 'file')
        current.left -= readInto(source, own, `${root}/${path}`, { ...limits, sourceBytes: current.left });
      else {
        const isLink = kind === 'link';
        source.unread.push({
          path: own,
          bytes: 0,
          reason: isLink ? 'a link' : 'no regular file',
        });
        if (isLink)
          source.found.push({
            path: own,
            found: { code: 'scan.link', message: 'This is a link, which is not followed.' },
          });
      }
    }
    pending.push(...folders.toReversed());
  }
  if (current !== undefined && !isEmpty(current.source)) yield current.source;
}

function emptySource(below: string, isSkill: boolean): ScanSource {
  return { folder: below === '' ? '.' : below.slice(0, -1), isSkill, tree: new Map(), unread: [], found: [] };
}

/** Converts a path below the root into a path of the source. */
function ownPath({ folder }: ScanSource, path: string): string {
  return path.slice(folder === '.' ? 0 : folder.length + 1) || '.';
}

function isEmpty({ tree, unread, found }: ScanSource): boolean {
  return tree.size + unread.length + found.length === 0;
}

interface FolderEntry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
}

/** Content of a folder, in path order. An unreadable folder is empty and has a fault. */
function entriesOf(root: string, below: string): { entries: FolderEntry[]; fault?: string } {
  try {
    const entries = readdirSync(`${root}/${below}`, { withFileTypes: true })
      .map((entry): FolderEntry => {
        const kind = entry.isSymbolicLink()
          ? 'link'
          : entry.isDirectory()
            ? 'folder'
            : entry.isFile()
              ? 'file'
              : 'other';
        return { name: entry.name, kind };
      })
      .toSorted((a, b) => compareCodePoints(a.name, b.name));
    return { entries };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return { entries: [], fault: `a folder that cannot be read (${code ?? message})` };
  }
}

/** Reads a file into a source. Returns its size in bytes, or 0 if it is only listed as unread. */
function readInto(
  { tree, unread }: ScanSource,
  path: string,
  place: string,
  { fileBytes, sourceBytes }: ReadLimits,
): number {
  const limit = Math.max(0, Math.min(fileBytes, sourceBytes));
  try {
    const { content, bytes, executable } = readRegularFile(place, { keep: limit, limit });
    tree.set(path, { bytes: content ?? new Uint8Array(), executable });
    return bytes;
  } catch (cause) {
    // Unreadable files are listed with their size on disk.
    const size = lstatSync(place, { throwIfNoEntry: false })?.size ?? 0;
    const reason =
      cause instanceof FileTooLarge
        ? `over ${size > fileBytes ? `${fileBytes} bytes` : 'the limit for one skill'}`
        : `it cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'it changed'})`;
    unread.push({ path, bytes: size, reason });
    return 0;
  }
}

/** Lists a folder that no skill is loaded from, with the size of its content, and reads the files that git would run. Returns their bytes. */
function addNotLoaded(source: ScanSource, folder: string, own: string, limits: ReadLimits): number {
  const rest = { path: own, bytes: 0, reason: 'a folder that no skill is loaded from' };
  let read = 0;
  const pending = [''];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const { entries, fault } = entriesOf(folder, below);
    if (fault !== undefined)
      source.unread.push({ path: `${own}/${below}`.replace(/\/$/, ''), bytes: 0, reason: fault });
    for (const { name, kind } of entries) {
      const place = `${folder}/${below}${name}`;
      if (kind === 'folder') pending.push(`${below}${name}/`);
      else if (kind === 'file' && own.endsWith('.git') && RUN_BY_GIT.test(below + name))
        read += readInto(source, `${own}/${below}${name}`, place, {
          ...limits,
          sourceBytes: limits.sourceBytes - read,
        });
      else if (kind === 'file') rest.bytes += lstatSync(place, { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  source.unread.push(rest);
  return read;
}
