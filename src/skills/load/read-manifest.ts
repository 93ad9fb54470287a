import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import { TEXT_FILE_LIMIT } from '../text/decode-text.ts';
import { listFolder, type FolderListing } from './files/list-folder.ts';
import { listSkillFiles } from './files/list-skill-files.ts';
import { FileTooLarge, readRegularFile } from './files/read-regular-file.ts';
import { COMPACT_FILE, SOURCES_FILE, TOOLS_FILE } from './read-skill-parts.ts';
import { isSkillFileName } from './files/skill-file-name.ts';

/** The most bytes that the files of one skill may have together. */
export const SKILL_BYTES: number = 256 * 1024 * 1024;

const TEXTS: ReadonlySet<string> = new Set([COMPACT_FILE, TOOLS_FILE, SOURCES_FILE]);

/** Every regular file of a skill folder, with the bytes of its text files. */
export interface Manifest {
  /** Sorted by path in code-point order. */
  files: SkillFile[];
  /** Bytes by path; null for a file that is too large to be read as text. */
  texts: ReadonlyMap<string, Uint8Array | null>;
  diagnostics: Diagnostic[];
}

/** Where a skill folder is. */
export interface ManifestOptions {
  /** Content of the folder itself, if it is listed already. */
  listing?: FolderListing;
  /** The folder's path in diagnostics, empty or ending in `/`. */
  shown?: string;
}

/**
 * Lists a skill folder and takes the digest of every file.
 *
 * @param folder absolute path of the skill folder, of which no folder is a link
 * @param options listing and name of the folder
 * @returns the manifest; without `files` the skill can't be read whole, and the diagnostics say why
 */
export function readManifest(
  folder: string,
  options: ManifestOptions = {},
): Manifest | { files?: undefined; diagnostics: Diagnostic[] } {
  const { listing = listFolder(folder), shown = '' } = options;
  const listed = listSkillFiles(folder, listing, shown);
  if (listed.paths === undefined) return listed;
  const texts = new Map<string, Uint8Array | null>();
  const files: SkillFile[] = [];
  let left = SKILL_BYTES;
  for (const path of listed.paths) {
    try {
      const isText = TEXTS.has(path) || isSkillFileName(path);
      const file = readRegularFile(`${folder}/${path}`, { keep: isText ? TEXT_FILE_LIMIT : 0, limit: left });
      left -= file.bytes;
      if (isText) texts.set(path, file.content ?? null);
      files.push({ path, digest: file.digest, bytes: file.bytes, executable: file.executable });
    } catch (cause) {
      // A skill that can't be read whole isn't loaded; the reason goes into the diagnostics.
      return { diagnostics: [...listed.diagnostics, unreadable(cause, `${shown}${path}`)] };
    }
  }
  return { files, texts, diagnostics: listed.diagnostics };
}

function unreadable(cause: unknown, path: string): Diagnostic {
  if (cause instanceof FileTooLarge) {
    const message = `The files of the skill have more than ${SKILL_BYTES} bytes together.`;
    return diagnostic('skill.too-large', message, { path });
  }
  return diagnostic('skill.unreadable', `The file cannot be read: ${(cause as Error).message}.`, { path });
}
