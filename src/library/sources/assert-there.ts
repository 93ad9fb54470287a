import { ARCHIVE_ENDINGS } from '../../contracts/skills/archive-ending.ts';
import { statSync } from 'node:fs';
import { refused } from './parse-source.ts';
import type { SourceSpec } from './source-spec.ts';

/**
 * Refuses a mistyped local path. Only for a source that the user has just typed: for sources in a library or a lock file, a missing path is an
 * outage.
 *
 * @param text the source as typed
 * @throws SkillcellError `source.refused`
 */
export function assertThere({ kind, source }: SourceSpec, text: string): void {
  if (!source.startsWith('/')) return;
  const found = statSync(source, { throwIfNoEntry: false });
  if (found === undefined) throw refused('there is no such file or folder', text);
  const listed = `${ARCHIVE_ENDINGS.slice(0, -1).join(', ')} or ${ARCHIVE_ENDINGS.at(-1)}`;
  if (kind === 'directory' && !found.isDirectory())
    throw refused(`it is no folder, and its name does not end in ${listed}`, text);
  if (kind === 'archive' && !found.isFile() && !found.isDirectory()) throw refused('it is no regular file', text);
}
