import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { listNames } from '../../../skills/text/list-names.ts';
import { joined } from './file-tree.ts';
import type { FoundSkill } from './source-contents.ts';
import type { SourceFiles } from './source-files.ts';

const POINTER = 'version https://git-lfs.github.com/spec/v1';
/** The specification keeps a pointer below this size. */
const POINTER_BYTES = 1_024;
const ATTRIBUTES = '.gitattributes';
const ATTRIBUTES_BYTES = 64 * 1024;
const LOOKED_AT = 200;
const NAMED = 10;

/**
 * Reports files that are only pointers to content in Git LFS. Files are examined only if a `.gitattributes` mentions LFS, since most sources have
 * no pointers.
 */
export async function namePointers(files: SourceFiles, skills: readonly FoundSkill[]): Promise<Diagnostic[]> {
  if (!(await speaksOfPointers(files))) return [];
  const diagnostics: Diagnostic[] = [];
  for (const skill of skills) {
    const pointers: string[] = [];
    for (const { path, bytes } of skill.files) {
      if (bytes < POINTER.length || bytes >= POINTER_BYTES) continue;
      const content = await files.read(joined(skill.folder, path), POINTER_BYTES);
      if (Buffer.from(content).toString('latin1').startsWith(POINTER)) pointers.push(path);
    }
    if (pointers.length === 0) continue;
    const message = `Files are pointers of Git LFS, whose content is not fetched: ${listNames(pointers, NAMED)}.`;
    diagnostics.push(libraryDiagnostic('source.lfs', message, { path: joined(skill.folder, pointers[0] ?? '') }));
  }
  return diagnostics;
}

async function speaksOfPointers(files: SourceFiles): Promise<boolean> {
  const attributes = files.entries
    .filter(({ path, kind }) => kind === 'file' && (path === ATTRIBUTES || path.endsWith(`/${ATTRIBUTES}`)))
    .filter(({ bytes }) => bytes <= ATTRIBUTES_BYTES)
    .slice(0, LOOKED_AT);
  for (const { path } of attributes) {
    const content = await files.read(path, ATTRIBUTES_BYTES);
    if (Buffer.from(content).includes('filter=lfs')) return true;
  }
  return false;
}
