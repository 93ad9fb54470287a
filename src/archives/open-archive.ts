import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../contracts/text/quoted-text.ts';
import { listNames } from '../skills/text/list-names.ts';
import { ArchiveRefusal } from './checks/archive-refused.ts';
import { leftOutDiagnostics } from './checks/left-out.ts';
import { readTar } from './tar/read-tar.ts';
import { readZip } from './zip/read-zip.ts';
import type { SkillTree } from '../contracts/skills/skill.ts';
import { ROOT_DEPTH } from '../skills/load/find-skill-folders.ts';
import { isSkillFileName } from '../skills/load/files/skill-file-name.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { foldersAbove } from './checks/name-collision.ts';

/** A skill in an archive. */
interface ArchiveSkill {
  /** Path of its folder in the archive, `.` for the archive itself. */
  folder: string;
  /** Files by their paths below that folder. */
  tree: SkillTree;
}

const NAMED = 10;

/** The skills of an archive. */
export interface OpenedArchive {
  /** In path order. */
  skills: ArchiveSkill[];
  /** The files that were left out. */
  diagnostics: Diagnostic[];
}

/**
 * Reads the skills of an archive. Its bytes decide the format, not its name.
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
 * @throws ArchiveRefusal if there is no skill, more than one, or one in a deeper folder
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
  const message = `Files outside of a skill folder are left out: ${listNames(paths, NAMED, quotedText)}.`;
  return [libraryDiagnostic('archive.beside', message, { path })];
}

/**
 * Finds the folders with a SKILL.md in an archive, by the rules of a skill root: folders below a skill are not searched.
 *
 * @returns the skills in path order, and the paths of files outside of a skill
 */
function findArchiveSkills(files: SkillTree): { skills: ArchiveSkill[]; beside: string[] } {
  const holding = new Set([...files.keys()].filter((path) => isSkillFileName(nameOf(path))).map(folderOf));
  const skills = new Map<string, SkillTree>();
  const beside: string[] = [];
  for (const [path, file] of [...files].toSorted(([a], [b]) => compareCodePoints(a, b))) {
    const folder = ['.', ...foldersAbove(path)].slice(0, ROOT_DEPTH + 1).find((each) => holding.has(each));
    if (folder === undefined) {
      beside.push(path);
      continue;
    }
    const tree = skills.get(folder) ?? new Map();
    tree.set(folder === '.' ? path : path.slice(folder.length + 1), file);
    skills.set(folder, tree);
  }
  return { skills: [...skills].map(([folder, tree]) => ({ folder, tree })), beside };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
}
