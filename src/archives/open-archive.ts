import type { Diagnostic } from '../contracts/diagnostic.ts';
import { libraryDiagnostic } from '../contracts/library-diagnostic.ts';
import { quotedText } from '../contracts/quoted-text.ts';
import { listNames } from '../skills/text/list-names.ts';
import { ArchiveRefusal } from './archive-refused.ts';
import { type ArchiveSkill, findArchiveSkills } from './find-archive-skills.ts';
import { leftOutDiagnostics } from './left-out.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';

const NAMED = 10;

/** What an archive holds of skills. */
export interface OpenedArchive {
  /** In path order. */
  skills: ArchiveSkill[];
  /** What was left out. */
  diagnostics: Diagnostic[];
}

/**
 * Reads the skills of an archive, whatever its name says of its format.
 *
 * @param bytes the whole archive
 * @throws ArchiveRefusal
 */
export async function openArchive(bytes: Uint8Array, options: { signal?: AbortSignal } = {}): Promise<OpenedArchive> {
  const { tree, leftOut } = isGzip(bytes) ? await readTar(bytes, options) : await readZip(bytes, options);
  const { skills, beside } = findArchiveSkills(tree);
  return { skills, diagnostics: [...leftOutDiagnostics(leftOut), ...besideDiagnostics(beside)] };
}

/**
 * The one skill of an archive, at its root or in one folder.
 *
 * @throws ArchiveRefusal where there is none, or more than one, or it lies deeper
 */
export function onlySkill({ skills }: OpenedArchive): ArchiveSkill {
  const [skill] = skills;
  const folders = listNames(skills, NAMED, ({ folder }) => quotedText(folder));
  if (skill === undefined) throw new ArchiveRefusal('archive.skill', 'it holds no SKILL.md');
  if (skills.length > 1) throw new ArchiveRefusal('archive.skill', `it holds more than one skill, in ${folders}`);
  if (skill.folder.includes('/'))
    throw new ArchiveRefusal(
      'archive.skill',
      `its SKILL.md is neither at the root nor in one folder, but in ${folders}`,
    );
  return skill;
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function besideDiagnostics(paths: readonly string[]): Diagnostic[] {
  const [path] = paths;
  if (path === undefined) return [];
  const message = `Files that lie in no skill's folder are left out: ${listNames(paths, NAMED, quotedText)}.`;
  return [libraryDiagnostic('archive.beside', message, { path })];
}
