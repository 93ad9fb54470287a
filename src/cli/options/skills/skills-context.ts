import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import { type CommandContext, flagValue } from '../flags/command.ts';
import { consumerFromFlags } from '../flags/consumer-flag.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { frozenLockFile } from './frozen-flag.ts';
import { loadSkills, type SkillSources } from './load-skills.ts';
import { sourcesFromFlags } from './sources-flag.ts';

/** Input of the `skills` commands. */
export interface SkillsContext {
  subsystem: SkillsSubsystem;
  consumer: string | undefined;
  /** Ids of the tools that are offered; undefined where no flag names one. */
  tools: readonly string[] | undefined;
}

/**
 * Loads the skills of a `skills` command and prints the findings for people.
 *
 * @param about `all` prints the findings of all skills; `none` leaves them to the command, which is about some skills
 * @throws SkillcellError for roots and descriptors that cannot be used
 */
export async function openSkills(context: CommandContext, about: 'all' | 'none' = 'all'): Promise<SkillsContext> {
  const { sources, ...who } = await readSkillsFlags(context);
  const subsystem = await loadSkills(sources, context.io);
  if (!context.json && about === 'all') await noteDiagnostics(context, subsystem.diagnostics);
  return { subsystem, ...who };
}

/** Reads the flags for the skills of a `skills` command, and its consumer. @throws SkillcellError `usage.invalid` */
export async function readSkillsFlags(
  context: CommandContext,
): Promise<{ sources: SkillSources } & Pick<SkillsContext, 'consumer' | 'tools'>> {
  const { arguments: given } = context;
  const consumer = consumerFromFlags(given);
  const [root, descriptor] = [flagValue(given, 'root'), flagValue(given, 'descriptor')];
  const names = sourcesFromFlags(given);
  const frozen = await frozenLockFile(context);
  const tools = given.flags.get('tool');
  const blank = tools?.find((id) => id.trim() === '');
  if (blank !== undefined) throw usageError('--tool', 'it must be the id of a tool', blank);
  return { sources: { root, rootFlag: '--root', descriptor, names, frozen, refs: given.operands }, consumer, tools };
}

/** Prints findings on stderr, each once. */
export async function noteDiagnostics({ output }: CommandContext, diagnostics: readonly Diagnostic[]): Promise<void> {
  for (const line of new Set(diagnostics.map(diagnosticLine))) await output.note(line);
}
