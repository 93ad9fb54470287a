import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { ROOT_DEPTH, ROOT_FOLDERS } from '../../../skills/load/find-skill-folders.ts';
import { skillFileNames } from '../../../skills/load/files/skill-file-name.ts';
import { listNames } from '../../../skills/text/list-names.ts';
import { foldersBelow, joined, oddNames, type SourceFolder } from './file-tree.ts';

const NAMED = 10;

/** A folder that holds SKILL.md. */
export interface SkillPlace {
  folder: SourceFolder;
  skillFile: string;
}

/** The SKILL.md of a folder, in any spelling; undefined where there is no such file. */
export function skillFileIn({ files }: SourceFolder): string | undefined {
  return skillFileNames([...files.keys()])[0];
}

/**
 * Searches a source for folders that hold SKILL.md, in path order. The rules of a root apply: the same limits of depth and folders, and no search
 * below a skill unless `nested` is set.
 */
export function findSkillPlaces(
  root: SourceFolder,
  nested: boolean,
): { places: SkillPlace[]; diagnostics: Diagnostic[] } {
  const places: SkillPlace[] = [];
  const diagnostics: Diagnostic[] = [];
  const tooDeep: SourceFolder[] = [];
  const tooMany: SourceFolder[] = [];
  let visited = 0;

  const visit = (folder: SourceFolder, depth: number): void => {
    const skillFile = skillFileIn(folder);
    diagnostics.push(...unreadable(folder, skillFile));
    if (skillFile !== undefined) {
      places.push({ folder, skillFile });
      const below = [...placesBelow(folder)];
      if (nested) places.push(...below);
      else diagnostics.push(...below.map(nestedDiagnostic));
      return;
    }
    diagnostics.push(...oddNames(folder));
    for (const below of folder.folders.values()) {
      if (depth === ROOT_DEPTH) tooDeep.push(below);
      else if (visited === ROOT_FOLDERS) tooMany.push(below);
      else {
        visited += 1;
        visit(below, depth + 1);
      }
    }
  };
  visit(root, 0);
  diagnostics.push(
    ...beyond('root.depth', `Folders below depth ${ROOT_DEPTH} are not searched`, tooDeep),
    ...beyond('root.folders', `Only the first ${ROOT_FOLDERS} folders are searched`, tooMany),
  );
  return { places, diagnostics };
}

function* placesBelow(skill: SourceFolder): Generator<SkillPlace> {
  for (const folder of foldersBelow(skill)) {
    const skillFile = folder === skill ? undefined : skillFileIn(folder);
    if (skillFile !== undefined) yield { folder, skillFile };
  }
}

function nestedDiagnostic({ folder, skillFile }: SkillPlace): Diagnostic {
  const message =
    'A SKILL.md below another skill is a file of that skill, and no skill of its own unless nested ones are asked for.';
  return diagnostic('skill.nested', message, { path: joined(folder.path, skillFile) });
}

function unreadable({ path, folders, others }: SourceFolder, skillFile: string | undefined): Diagnostic[] {
  if (skillFile === 'SKILL.md') return [];
  return skillFileNames([...folders.keys(), ...others]).map((name) => {
    const kind = folders.has(name) ? 'a folder' : 'no regular file';
    return diagnostic('skill.unreadable', `${name} is ${kind}; it is not read.`, { path: joined(path, name) });
  });
}

function beyond(code: 'root.depth' | 'root.folders', message: string, folders: readonly SourceFolder[]): Diagnostic[] {
  const [first] = folders;
  if (first === undefined) return [];
  const found = folders.flatMap((top) => {
    const own = skillFileIn(top);
    return [...(own === undefined ? [] : [joined(top.path, own)]), ...[...placesBelow(top)].map(placePath)];
  });
  const there = found.length === 0 ? 'no SKILL.md lies there' : `SKILL.md that lie there: ${listNames(found, NAMED)}`;
  return [diagnostic(code, `${message}; ${there}.`, { path: first.path })];
}

function placePath({ folder, skillFile }: SkillPlace): string {
  return joined(folder.path, skillFile);
}
