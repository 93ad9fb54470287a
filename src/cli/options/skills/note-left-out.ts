import type { SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import type { ConsumerOptions } from '../../../skills/subsystem-contract.ts';
import type { CommandContext } from '../flags/command.ts';
import { noteDiagnostics } from './skills-context.ts';

/** Notes on stderr the imports that `--frozen` has left out, for a command whose result has no field for them. */
export async function noteLeftOut(
  context: CommandContext,
  refs: readonly string[],
  subsystem: SkillsSubsystem,
  who: ConsumerOptions,
): Promise<void> {
  if (context.json || !context.arguments.flags.has('frozen')) return;
  const { diagnostics } = subsystem.importSkillset(refs, who);
  await noteDiagnostics(
    context,
    diagnostics.filter(({ code }) => code === 'lock.not-approved'),
  );
}
