import { realpathSync } from 'node:fs';
import { configFolder, defaultCacheFolder, homeFolder } from '../../durable/user-folders.ts';
import { lookAtProject } from '../../library/trust/look-at-project.ts';
import { SOURCE_NAMES, type SourceFolder, sourceFolders } from '../../library/trust/source-folders.ts';
import { readTrust, trustFile } from '../../library/trust/trust-file.ts';
import { openTreeCache } from '../../stores/cache/tree-cache.ts';
import { BUILTIN_FOLDER } from '../options/builtin-folder.ts';
import type { CommandContext } from '../options/command.ts';
import { escapeLine } from '../terminal/escape-controls.ts';

/** One place of skills, and whether `--sources` with its name reads it. */
interface SourceRow {
  source: 'builtin' | 'user' | 'project';
  path: string;
  read: boolean;
  /** Why it is not read; null where it is. */
  reason: string | null;
}

/** `skillcell skills sources`: says what is read and what is not, lowest precedence first. */
export async function runSources({ io, output, json }: CommandContext): Promise<number> {
  const project = realpathSync.native(io.cwd());
  const path = trustFile(configFolder(io.env));
  const { projects, fault } = readTrust(path);
  const distrust = await distrustOf(project, projects.get(project)?.digest, fault, defaultCacheFolder(io.env));
  const folders = sourceFolders(new Set(SOURCE_NAMES), homeFolder(io.env), project);
  const rows: SourceRow[] = [
    { source: 'builtin', path: BUILTIN_FOLDER, read: true, reason: null },
    ...folders.map((folder) => rowOf(folder, folder.source === 'project' ? distrust : undefined)),
  ];
  if (json) await output.json({ sources: rows, trustFile: path, trustFault: fault ?? null });
  else {
    for (const { source, path: place, read, reason } of rows) {
      await output.text(
        `${source.padEnd(8)}${read ? 'read    ' : 'not read'} ${escapeLine(place)}${reason === null ? '' : `: ${reason}`}\n`,
      );
    }
  }
  if (fault !== undefined) await output.note(escapeLine(`No project is trusted: ${fault}, got ${path}.`));
  return 0;
}

function rowOf({ source, path, real, isOutside }: SourceFolder, distrust: string | undefined): SourceRow {
  const reason =
    real === undefined ? 'there is no such folder' : isOutside ? 'it is a link to outside the project' : distrust;
  return { source, path, read: reason === undefined, reason: reason ?? null };
}

async function distrustOf(
  project: string,
  trusted: string | null | undefined,
  fault: string | undefined,
  cacheDir: string,
): Promise<string | undefined> {
  if (fault !== undefined) return 'no project is trusted';
  if (trusted === undefined) return 'the project is not trusted';
  if (trusted === null) return undefined;
  const { digest } = await lookAtProject(project, openTreeCache(cacheDir));
  return digest === trusted ? undefined : 'it has changed since the project was trusted';
}
