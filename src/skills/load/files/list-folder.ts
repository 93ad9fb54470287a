import { readdirSync, type Dirent } from 'node:fs';
import { compareCodePoints } from '../../text/text.ts';

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Content of a folder, each list in code-point order. */
export interface FolderListing {
  files: string[];
  folders: string[];
  /** Symbolic links; they are reported and never followed. */
  links: string[];
  /** Fifos, sockets and devices; they are never opened. */
  others: string[];
}

/**
 * Lists one folder. `.git` and `node_modules` are skipped, whether they are files, folders or links.
 *
 * @param path absolute path of the folder
 * @returns names by kind
 * @throws Error when the folder can't be read
 */
export function listFolder(path: string): FolderListing {
  const listing: FolderListing = { files: [], folders: [], links: [], others: [] };
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    listOf(listing, entry).push(entry.name);
  }
  // Most folders hold one or two kinds of entries; sorting an empty list costs as much as one of two.
  for (const names of [listing.files, listing.folders, listing.links, listing.others]) {
    if (names.length > 1) names.sort(compareCodePoints);
  }
  return listing;
}

function listOf(listing: FolderListing, entry: Dirent): string[] {
  if (entry.isSymbolicLink()) return listing.links;
  if (entry.isDirectory()) return listing.folders;
  return entry.isFile() ? listing.files : listing.others;
}
