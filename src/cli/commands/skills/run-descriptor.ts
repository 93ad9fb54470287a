import type { SkillTrees } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { verifyDescriptor } from '../../../skills/descriptor/verify-descriptor.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { readJsonFile } from '../../options/skills/load-skills.ts';
import { openSkills, type SkillsContext } from '../../options/skills/skills-context.ts';
import { quoted, usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills descriptor`: prints a descriptor, or compares one with the skills on disk. */
export async function runDescriptor(context: CommandContext): Promise<number> {
  const { arguments: given, output } = context;
  const portable = given.flags.has('portable');
  const file = flagValue(given, 'verify');
  if (file !== undefined && portable)
    throw usageError('--verify', 'it prints no descriptor, so --portable has no place', file);
  const opened = await openSkills(context);
  if (file !== undefined) return verify(context, file, opened);
  await output.json(opened.subsystem.descriptor({ portable, consumer: opened.consumer }));
  return 0;
}

/** Every loaded skill must be listed unchanged, and every listed skill must be loaded. */
async function verify(context: CommandContext, file: string, { subsystem }: SkillsContext): Promise<number> {
  const { io, output, json } = context;
  const descriptor = readJsonFile('--verify', file, io);
  const trees: SkillTrees = new Map(subsystem.skills.map(({ id }) => [id, subsystem.skillTree(id)]));
  const { ok, diagnostics } = verifyDescriptor(descriptor, trees);
  if (ok) {
    if (json) await output.json({ ok, skills: trees.size, diagnostics });
    else await output.text(`The descriptor fits: ${trees.size} skills, every file as listed.\n`);
    return 0;
  }
  const form = diagnostics.some(({ code }) => code === 'descriptor.invalid' || code === 'descriptor.schema');
  const codes = [...new Set(diagnostics.map(({ code }) => code))].join(', ');
  const message = `Cannot verify the descriptor: ${diagnostics[0]?.message ?? ''} Got ${codes} for ${quoted(file)}.`;
  throw new SkillcellError(form ? 'skills.descriptor-invalid' : 'skills.digest-mismatch', message, { diagnostics });
}
