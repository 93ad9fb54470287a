import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { nameCollision } from '../../../archives/checks/name-collision.ts';
import { SKILL_ENTRIES } from '../../../skills/load/files/list-skill-files.ts';
import { SKILL_BYTES } from '../../../skills/load/read-manifest.ts';
import { listNames } from '../../../skills/text/list-names.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import { folderPath, foldersBelow, oddNames, type SourceFolder } from './file-tree.ts';
import type { SourceEntry } from './source-files.ts';

const NAMED = 10;
/** In a sandbox, the skill's id is one more component before the path. */
const LONGEST_ID = 'i'.repeat(255);

/**
 * The regular files of a skill folder, with their paths below it.
 *
 * @returns no files where the skill is too large, or two of its names collide on some systems
 */
export function listSkillEntries(skill: SourceFolder): { files?: SourceEntry[]; diagnostics: Diagnostic[] } {
  const files: SourceEntry[] = [];
  const diagnostics: Diagnostic[] = [];
  const leftOut: [string, string][] = [];
  let names = 0;
  let bytes = 0;
  for (const folder of foldersBelow(skill)) {
    diagnostics.push(...oddNames(folder));
    names += folder.files.size + folder.folders.size;
    for (const entry of folder.files.values()) {
      const path = skill.path === '' ? entry.path : entry.path.slice(skill.path.length + 1);
      const fault = relativePathFault(`${LONGEST_ID}/${path}`);
      if (fault === undefined) files.push({ ...entry, path });
      else leftOut.push([path, fault]);
      bytes += entry.bytes;
    }
  }
  const path = folderPath(skill);
  if (leftOut.length > 0) {
    const named = listNames(leftOut, NAMED, ([name, fault]) => `${quotedText(name)} (${fault})`);
    diagnostics.push(
      diagnostic('skill.path', `Files whose path a sandbox cannot hold are left out: ${named}.`, { path }),
    );
  }
  const tooLarge =
    names > SKILL_ENTRIES
      ? `The skill holds more than ${SKILL_ENTRIES} files and folders.`
      : `The files of the skill have more than ${SKILL_BYTES} bytes together.`;
  if (names > SKILL_ENTRIES || bytes > SKILL_BYTES)
    return { diagnostics: [...diagnostics, diagnostic('skill.too-large', tooLarge, { path })] };
  const collision = nameCollision(files.map((file) => file.path));
  if (collision !== undefined) {
    const named = collision.map((name) => quotedText(name)).join(' and ');
    const message = `The skill is left out: two of its names are one on some systems, ${named}.`;
    return { diagnostics: [...diagnostics, libraryDiagnostic('source.collision', message, { path })] };
  }
  return { files: files.toSorted((a, b) => compareCodePoints(a.path, b.path)), diagnostics };
}
