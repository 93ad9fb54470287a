import { basename, join, resolve } from 'node:path';
import { importSkill } from '../../../authoring/dialect/import-skill.ts';
import { writeNewFolders } from '../../../authoring/dialect/write-new.ts';
import { loadUnchecked } from '../../../skills/load-subsystem.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { noteDiagnostics } from '../../options/skills/skills-context.ts';
import { unreadable } from '../../terminal/input-file.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills import`: reads skills of others, and restores exported ones from their metadata. */
export async function runImport(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json } = context;
  const path = given.operands[0] ?? '';
  const into = flagValue(given, 'into') ?? '.';
  if (into === '') throw usageError('--into', 'it must be a folder', into);
  const root = resolve(io.cwd(), path);
  const subsystem = loadUnchecked({ roots: [{ kind: 'custom', path: root }] });
  if (path === '' || subsystem.skills.length === 0) {
    await noteDiagnostics(context, subsystem.diagnostics);
    throw unreadable('PATH', 'it must be a folder with skills that can be read', path);
  }
  if (!json) await noteDiagnostics(context, subsystem.diagnostics);
  const trees = subsystem.skills.map(({ id, dir }) => {
    const name = dir === '.' ? basename(root) : basename(dir);
    return [name, importSkill(name, subsystem.skillTree(id))] as const;
  });
  writeNewFolders(resolve(io.cwd(), into), trees);
  const written = trees.map(([name]) => join(into, name));
  if (json) await output.json({ written, diagnostics: subsystem.diagnostics });
  else for (const each of written) await output.text(`${escapeLine(each)}\n`);
  return 0;
}
