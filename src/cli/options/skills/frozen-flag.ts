import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { bareReference, fullId, withoutRange } from '../../../skills/text/bare-reference.ts';
import type { CommandContext } from '../flags/command.ts';

/** The lock file of `--frozen`; undefined without the flag, when no code of locks is loaded. */
export async function frozenLockFile(context: CommandContext): Promise<string | undefined> {
  if (!context.arguments.flags.has('frozen')) return undefined;
  const { lockPlace } = await import('./lock-place.ts');
  return lockPlace(context).lockFile;
}

/** The error for references to skills that `--frozen` has left out; undefined if it has left out none of them. */
export function unapprovedError(
  cause: SkillcellError,
  refs: readonly string[],
  diagnostics: readonly Diagnostic[],
): SkillcellError | undefined {
  const left = leftOut(diagnostics);
  const about = refs.flatMap((ref) => left.get(idOf(ref)) ?? []);
  const [first] = about;
  if (first === undefined) return undefined;
  const message = `Cannot use ${first.skill}: its bytes are not approved.`;
  return new SkillcellError('lock.unapproved', message, { cause, diagnostics: about });
}

function leftOut(diagnostics: readonly Diagnostic[]): Map<string, Diagnostic[]> {
  const ofSkills = new Map<string, Diagnostic[]>();
  for (const found of diagnostics) {
    if (found.code !== 'lock.not-approved' || found.skill === undefined) continue;
    ofSkills.set(found.skill, [...(ofSkills.get(found.skill) ?? []), found]);
  }
  return ofSkills;
}

function idOf(ref: string): string {
  return withoutRange(fullId(bareReference(ref)));
}
