import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import { type CommandContext, flagValue } from '../flags/command.ts';
import { consumerFromFlags } from '../flags/consumer-flag.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { frozenLockFile } from './frozen-flag.ts';
import { loadSkills, type SkillSources } from './load-skills.ts';
import { sourcesFromFlags } from './sources-flag.ts';

/** What the `skills` commands begin with. */
export interface SkillsContext {
  subsystem: SkillsSubsystem;
  consumer: string | undefined;
  /** Ids of the tools that are offered; undefined where no flag names one. */
  tools: readonly string[] | undefined;
}

/**
 * Loads the skills of a `skills` command and tells people what was found on the way.
 *
 * @param about `all` skills, or `none`: a command about some skills tells what was found in those
 * @throws SkillcellError for roots and descriptors that cannot be used
 */
export async function openSkills(context: CommandContext, about: 'all' | 'none' = 'all'): Promise<SkillsContext> {
  const { sources, ...who } = await readSkillsFlags(context);
  const subsystem = await loadSkills(sources, context.io);
  if (!context.json && about === 'all') await noteDiagnostics(context, subsystem.diagnostics);
  return { subsystem, ...who };
}

/** Reads what says which skills a `skills` command loads, and who asks. @throws SkillcellError `usage.invalid` */
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
