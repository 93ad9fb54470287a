import { type CommandContext, flagValue } from '../command.ts';
import { referenceError } from '../reference-error.ts';
import { noteDiagnostics, openSkills } from '../skills-context.ts';

/** `skillcell skills render`: prints the `[ACTIVE SKILLS]` block, exactly its bytes. */
export async function renderSkills(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const { subsystem, consumer } = await openSkills(context);
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
  await noteDiagnostics(context, diagnostics);
  await output.text(text);
  return 0;
}
