import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { referenceError } from '../../options/skills/reference-error.ts';
import { noteDiagnostics, openSkills } from '../../options/skills/skills-context.ts';

/** `skillcell skills render`: prints the `[ACTIVE SKILLS]` block, exactly its bytes. */
export async function runRender(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const { subsystem, consumer } = await openSkills(context, 'none');
  const variant = flagValue(given, 'variant') === 'compact' ? 'compact' : 'full';
  const catalog = subsystem.catalog({ consumer });
  const block = subsystem.buildSkillsInstructionBlock({ refs: given.operands, consumer, catalog, variant });
  const { text, sha256, rows, pool, active, diagnostics } = block;
  if (rows.some(({ status }) => status === 'unknown' || status === 'denied')) {
    throw referenceError('render the skills', rows, subsystem);
  }
  if (json) {
    await output.json({ text, sha256, rows, pool, active, diagnostics });
    return 0;
  }
  const loaded = subsystem.skills.filter(({ id }) => active.includes(id)).flatMap((skill) => skill.diagnostics);
  await noteDiagnostics(context, [...loaded, ...diagnostics]);
  await output.text(text);
  return 0;
}
