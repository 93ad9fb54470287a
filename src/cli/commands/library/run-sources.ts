import { configFolder } from '../../../durable/user-folders.ts';
import { chooseSources } from '../../../library/trust/choose-sources.ts';
import type { JudgedFolder, NotRead } from '../../../library/trust/judge-sources.ts';
import { lookAtStores } from '../../../library/trust/look-at-project.ts';
import { SOURCE_NAMES } from '../../../library/trust/source-folders.ts';
import { trustFile } from '../../../library/trust/trust-file.ts';
import { BUILTIN_FOLDER } from '../../options/skills/builtin-folder.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { recoverSources } from '../../options/skills/load-sources.ts';
import { withCache } from '../../options/skills/with-cache.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/** One place of skills, and whether `--sources` with its name reads it. */
interface SourceRow {
  source: 'builtin' | 'user' | 'project';
  path: string;
  read: boolean;
  /** Why it is not read; null where it is. */
  reason: string | null;
}

const REASONS: Readonly<Record<NotRead, string>> = {
  missing: 'there is no such folder',
  outside: 'it is a link to outside the project',
  'trust-ignored': 'no project is trusted',
  untrusted: 'the project is not trusted',
  changed: 'it has changed since the project was trusted',
};

/** `skillcell skills sources`: lists the folders, lowest precedence first, and says which of them loading reads. */
export async function runSources({ io, output, json }: CommandContext): Promise<number> {
  const names = new Set(SOURCE_NAMES);
  await recoverSources(names, io);
  const { trust, folders } = await withCache(io, async (cache) => {
    const { judge, projectStores } = chooseSources({ names, env: io.env, cwd: io.cwd(), cache });
    return judge(await lookAtStores(projectStores, cache));
  });
  const path = trustFile(configFolder(io.env));
  const rows: SourceRow[] = [
    { source: 'builtin', path: BUILTIN_FOLDER, read: true, reason: null },
    ...folders.map((folder) => rowOf(folder)),
  ];
  const { fault } = trust;
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

function rowOf({ folder: { source, path }, notRead }: JudgedFolder): SourceRow {
  return { source, path, read: notRead === undefined, reason: notRead === undefined ? null : REASONS[notRead] };
}
