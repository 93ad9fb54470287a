import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { listFolder, type FolderListing } from './list-folder.ts';
import { isSkillFileName } from './skill-file-name.ts';
import { listNames } from '../../text/list-names.ts';
import { compareCodePoints } from '../../text/text.ts';

/** The most files and folders of one skill. */
export const SKILL_ENTRIES = 20_000;

const NAMED = 10;

/** In a sandbox, the skill's id precedes the path as one component. This is the longest possible id. */
const LONGEST_ID = 'i'.repeat(255);

/** A short path of such names is always valid, so it needs no further check. */
const PLAIN = /^[\w.-]{1,99}$/;

/** The regular files of a skill folder. */
export interface SkillFileList {
  /** Paths below the folder, in code-point order. */
  paths: string[];
  diagnostics: Diagnostic[];
}

/**
 * Lists every regular file of a skill folder, at any depth, without following links. Left out are paths that a sandbox
 * cannot take, and entries that are neither file, folder nor link: fifos, sockets, devices.
 *
 * @param folder absolute path of the skill folder
 * @param listing content of the folder itself
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
    const leftOut: [string, string][] = [];
    const isLeftOut = (name: string): boolean => {
      if (prefix.length < 100 && PLAIN.test(name)) return false;
      const path = prefix + name;
      const fault = relativePathFault(`${LONGEST_ID}/${path}`);
      if (fault !== undefined) leftOut.push([path, fault]);
      return fault !== undefined;
    };
    diagnostics.push(...linkDiagnostics(next.listing, `${shown}${prefix}`));
    for (const file of next.listing.files) {
      if (isLeftOut(file)) continue;
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
      if (isLeftOut(name)) continue;
      try {
        pending.push({ prefix: below, listing: listFolder(`${folder}/${below}`) });
      } catch (cause) {
        // A skill that can't be read whole isn't loaded; the reason goes into the diagnostics.
        const message = `The folder cannot be read: ${(cause as Error).message}.`;
        return { diagnostics: [...diagnostics, diagnostic('skill.unreadable', message, { path: `${shown}${below}` })] };
      }
    }
    for (const name of next.listing.others) leftOut.push([prefix + name, 'no regular file']);
    diagnostics.push(...leftOutDiagnostics(leftOut, shown));
  }
  return { paths: paths.sort(compareCodePoints), diagnostics };
}

function leftOutDiagnostics(leftOut: readonly [path: string, fault: string][], shown: string): Diagnostic[] {
  const [first] = leftOut;
  if (first === undefined) return [];
  const named = listNames(leftOut, NAMED, ([path, fault]) => `${quotedText(path)} (${fault})`);
  const message = `Files that no sandbox can take are left out: ${named}.`;
  return [diagnostic('skill.path', message, { path: `${shown}${first[0]}` })];
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
  const message = `Links are never followed: ${listNames(links, NAMED)}.`;
  return [diagnostic('skill.link', message, { path: `${shown}${links[0]}` })];
}
