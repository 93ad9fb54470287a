import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { ROOT_DEPTH } from '../../../skills/load/find-skill-folders.ts';
import { isSkillFileName } from '../../../skills/load/files/skill-file-name.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import { PUBLICATION_FILE, STAGE_FOLDER } from './publication.ts';
import type { ListedObject } from './s3-access.ts';

/** Objects of folders that may be skills, by the path of the folder (`.` for the prefix itself), then by their paths below it. */
export type GroupedSkills = Map<string, Map<string, ListedObject>>;

/**
 * Groups objects by skill. A folder with a SKILL.md includes everything below it.
 *
 * @param none folders that turned out to be no skills
 */
export function groupSkills(
  objects: ReadonlyMap<string, ListedObject>,
  none: ReadonlySet<string> = new Set(),
): { skills: GroupedSkills; diagnostics: Diagnostic[] } {
  const folders = new Set<string>();
  for (const path of objects.keys()) {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const folder = slash < 0 ? '.' : path.slice(0, slash);
    if ((isSkillFileName(name) || name === PUBLICATION_FILE) && !none.has(folder) && !isStage(folder))
      folders.add(folder);
  }
  const skills: GroupedSkills = new Map();
  const tooDeep = new Set<string>();
  for (const [path, object] of objects) {
    const folder = outermost(path, folders);
    if (folder === undefined) continue;
    if (folder.split('/').length > ROOT_DEPTH) {
      tooDeep.add(folder);
      continue;
    }
    let files = skills.get(folder);
    if (files === undefined) skills.set(folder, (files = new Map()));
    files.set(folder === '.' ? path : path.slice(folder.length + 1), object);
  }
  const sorted = new Map([...skills].toSorted(([a], [b]) => compareCodePoints(a, b)));
  return { skills: sorted, diagnostics: depthDiagnostics([...tooDeep]) };
}

function isStage(folder: string): boolean {
  return folder.split('/').includes(STAGE_FOLDER);
}

function outermost(path: string, folders: ReadonlySet<string>): string | undefined {
  if (folders.has('.')) return '.';
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const folder = path.slice(0, slash);
    if (folders.has(folder)) return folder;
  }
  return undefined;
}

function depthDiagnostics([first, ...more]: readonly string[]): Diagnostic[] {
  if (first === undefined) return [];
  const message = `Folders below depth ${ROOT_DEPTH} are not searched; ${more.length + 1} of them hold a SKILL.md.`;
  return [diagnostic('root.depth', message, { path: first })];
}
