import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { SkillsSubsystem } from '../skills/skills-subsystem.ts';
import { type CommandContext, flagValue } from './command.ts';
import { consumerFromFlags } from './consumer-flag.ts';
import { loadSkills } from './load-skills.ts';

/** What the `skills` commands begin with. */
export interface SkillsContext {
  subsystem: SkillsSubsystem;
  consumer: string | undefined;
}

/** Loads the skills of a `skills` command and tells people what was found on the way. @throws SkillcellError */
export async function openSkills(context: CommandContext): Promise<SkillsContext> {
  const { arguments: given, io, json } = context;
  const consumer = consumerFromFlags(given);
  const [root, descriptor] = [flagValue(given, 'root'), flagValue(given, 'descriptor')];
  const subsystem = loadSkills({ root, rootFlag: '--root', descriptor }, io);
  if (!json) await noteDiagnostics(context, subsystem.diagnostics);
  return { subsystem, consumer };
}

/** Prints findings on stderr, the merely informative ones aside. */
export async function noteDiagnostics({ output }: CommandContext, diagnostics: readonly Diagnostic[]): Promise<void> {
  for (const found of diagnostics) if (found.severity !== 'info') await output.note(diagnosticLine(found));
}

/** A finding on one line. */
export function diagnosticLine({ severity, code, message, path, line }: Diagnostic): string {
  const place = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`;
  return `${severity} ${code}${place}: ${message}`;
}
