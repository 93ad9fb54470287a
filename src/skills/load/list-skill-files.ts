import { type Diagnostic, diagnostic } from '../../contracts/diagnostic.ts';
import { listFolder, type FolderListing } from './list-folder.ts';
import { isSkillFileName } from './skill-file-name.ts';
import { listNames } from '../text/list-names.ts';
import { compareCodePoints } from '../text/text.ts';

/** Files and folders of one skill. */
export const SKILL_ENTRIES = 20_000;

const NAMED_LINKS = 10;

/** The regular files of a skill folder. */
export interface SkillFileList {
  /** Paths below the folder, in code-point order. */
  paths: string[];
  diagnostics: Diagnostic[];
}

/**
 * Lists every regular file of a skill folder, at any depth, following no link.
 *
 * @param folder absolute path of the skill folder
 * @param listing what the folder itself holds
 * @param shown the folder's path in diagnostics
 * @returns the paths, or undefined with the reason when the skill can't be listed
 */
export function listSkillFiles(
  folder: string,
  listing: FolderListing,
  shown: string,
): SkillFileList | { paths?: undefined; diagnostics: Diagnostic[] } {
  const paths: string[] = [];
  const diagnostics: Diagnostic[] = [];
  let entries = 0;
  const pending = [{ prefix: '', listing }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { prefix } = next;
    diagnostics.push(...linkDiagnostics(next.listing, `${shown}${prefix}`));
    for (const file of next.listing.files) {
      paths.push(prefix + file);
      if (prefix !== '' && isSkillFileName(file)) diagnostics.push(nestedDiagnostic(`${shown}${prefix}${file}`));
    }
    entries += next.listing.files.length + next.listing.folders.length;
    if (entries > SKILL_ENTRIES) {
      const message = `The skill holds more than ${SKILL_ENTRIES} files and folders.`;
      return { diagnostics: [...diagnostics, diagnostic('skill.too-large', message, { path: shown })] };
    }
    for (const name of next.listing.folders) {
      const below = `${prefix}${name}/`;
      try {
        pending.push({ prefix: below, listing: listFolder(`${folder}/${below}`) });
      } catch (cause) {
        // A skill that can't be read whole isn't loaded; the reason goes into the diagnostics.
        const message = `The folder cannot be read: ${(cause as Error).message}.`;
        return { diagnostics: [...diagnostics, diagnostic('skill.missing', message, { path: `${shown}${below}` })] };
      }
    }
  }
  return { paths: paths.sort(compareCodePoints), diagnostics };
}

function nestedDiagnostic(path: string): Diagnostic {
  const message = 'A SKILL.md below another skill is a file of that skill, and no skill of its own.';
  return diagnostic('skill.nested', message, { path });
}

/**
 * Reports the links of a folder, one diagnostic for all.
 *
 * @param listing the folder
 * @param shown the folder's path in diagnostics, empty or ending in `/`
 * @returns no diagnostic or one
 */
export function linkDiagnostics({ links }: FolderListing, shown: string): Diagnostic[] {
  if (links.length === 0) return [];
  const message = `Links are never followed: ${listNames(links, NAMED_LINKS)}.`;
  return [diagnostic('skill.link', message, { path: `${shown}${links[0]}` })];
}
