import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { configFolder, defaultCacheFolder } from '../../../durable/user-folders.ts';
import { lookAtProject } from '../../../library/trust/look-at-project.ts';
import { changeTrust, readTrust, trustFile } from '../../../library/trust/trust-file.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { openTreeCache } from '../../../library/stores/cache/tree-cache.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { recoverSources } from '../../options/skills/load-sources.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { unreadable } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills trust`: trusts a project, or lists those that are trusted. */
export async function runTrust(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json } = context;
  const path = trustFile(configFolder(io.env));
  if (given.flags.has('list')) return await list(context, path);
  const project = projectFolder(context);
  const follow = given.flags.has('follow');
  await recoverSources(new Set(['project']), { env: io.env, cwd: () => project });
  const { digest, skills } = await lookAtProject(project, openTreeCache(defaultCacheFolder(io.env)));
  await changeTrust(path, project, { digest: follow ? null : digest });
  if (json) await output.json({ project, digest, follow, skills });
  else {
    const later = follow ? ', and later changes too' : '';
    await output.text(
      `${escapeLine(project)} is trusted: ${skills.length} skill${skills.length === 1 ? '' : 's'}${later}.\n`,
    );
    for (const skill of skills) await output.text(`  ${escapeLine(skill.path)} ${skill.digest}\n`);
  }
  return 0;
}

/** `skillcell skills untrust`. */
export async function runUntrust(context: CommandContext): Promise<number> {
  const { io, output, json } = context;
  const project = projectFolder(context);
  const was = await changeTrust(trustFile(configFolder(io.env)), project, null);
  if (json) await output.json({ project, was });
  else
    await output.text(
      `${escapeLine(project)} is ${was ? 'no longer trusted' : 'not trusted; it was not trusted before'}.\n`,
    );
  return was ? 0 : 1;
}

async function list({ arguments: given, output, json }: CommandContext, path: string): Promise<number> {
  if (given.operands.length > 0 || given.flags.has('follow')) {
    throw usageError('--list', 'it takes neither DIR nor --follow', given.operands[0] ?? '--follow');
  }
  const { projects, fault } = readTrust(path);
  if (fault !== undefined) {
    throw new SkillcellError('file.unreadable', `Cannot say which projects are trusted: ${fault}, got ${path}.`, {
      hint: 'No project is trusted until that is mended: remove the file, and trust the projects anew.',
    });
  }
  const rows = [...projects].map(([project, { digest }]) => ({ project, digest, follow: digest === null }));
  if (json) await output.json(rows);
  else for (const row of rows) await output.text(`${escapeLine(row.project)} ${row.digest ?? 'any content'}\n`);
  return 0;
}

function projectFolder({ arguments: given, io }: CommandContext): string {
  const [shown = '.'] = given.operands;
  try {
    return realpathSync.native(resolve(io.cwd(), shown));
  } catch {
    throw unreadable('DIR', 'there is no such folder', shown);
  }
}
