import { join, resolve } from 'node:path';
import { newSkill } from '../../../authoring/new-skill.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills new`: begins a skill. */
export async function runNew({ arguments: given, io, output, json }: CommandContext): Promise<number> {
  const name = given.operands[0] ?? '';
  const into = flagValue(given, 'into') ?? '.';
  if (into === '') throw usageError('--into', 'it must be a folder', into);
  newSkill(resolve(io.cwd(), into), name);
  const path = join(into, name);
  if (json) await output.json({ path });
  else await output.text(`${escapeLine(join(path, 'SKILL.md'))}\n`);
  return 0;
}
