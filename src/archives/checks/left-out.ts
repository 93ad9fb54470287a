import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { listNames } from '../../skills/text/list-names.ts';

/** Files that systems and tools leave behind, or read on their own. They are left out with a diagnostic. */
const NAMES: ReadonlySet<string> = new Set([
  '__macosx',
  '.ds_store',
  '.git',
  // The short name of `.git` on Windows.
  'git~1',
  'node_modules',
  '.npmrc',
  '.env',
]);

const NAMED = 10;

/** True if a name in the path is left out. Case does not matter: `.GIT` is `.git` on some systems. */
export function isLeftOut(path: string): boolean {
  return path.split('/').some((part) => NAMES.has(part.toLowerCase()) || part.startsWith('._'));
}

/** One diagnostic for all left-out paths, or none. */
export function leftOutDiagnostics(paths: readonly string[]): Diagnostic[] {
  const [path] = paths;
  if (path === undefined) return [];
  const message = `Files that systems and tools leave behind are left out: ${listNames(paths, NAMED, quotedText)}.`;
  return [libraryDiagnostic('archive.left-out', message, { path })];
}
