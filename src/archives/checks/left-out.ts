import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { listNames } from '../../skills/text/list-names.ts';

/** What systems and tools leave beside the files of people, or read by themselves. It is left out, and named. */
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

/** Whether an entry of this path is left out, for its own name or that of a folder above it; `.GIT` is `.git` on some systems. */
export function isLeftOut(path: string): boolean {
  return path.split('/').some((part) => NAMES.has(part.toLowerCase()) || part.startsWith('._'));
}

/** Names what was left out; no diagnostic where nothing was. */
export function leftOutDiagnostics(paths: readonly string[]): Diagnostic[] {
  const [path] = paths;
  if (path === undefined) return [];
  const message = `What systems and tools leave beside files is left out: ${listNames(paths, NAMED, quotedText)}.`;
  return [libraryDiagnostic('archive.left-out', message, { path })];
}
