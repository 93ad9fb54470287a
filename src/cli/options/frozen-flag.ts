import type { Diagnostic } from '../../contracts/diagnostic.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { LoadUncheckedOptions } from '../../skills/load-subsystem.ts';
import type { CommandContext } from './command.ts';

/**
 * Reads what `--frozen` lets through. Nothing of it loads without the flag.
 *
 * @throws SkillcellError `lock.invalid`, also where there is no lock file
 */
export async function admitFrozen(context: CommandContext): Promise<LoadUncheckedOptions['admit']> {
  if (!context.arguments.flags.has('frozen')) return undefined;
  const [{ existingLock }, { openFrozen }] = await Promise.all([
    import('./existing-lock.ts'),
    import('../../library/lock/open-frozen.ts'),
  ]);
  return await openFrozen(existingLock(context), { signal: context.interruption.signal });
}

/** The error of a reference to a skill that `--frozen` has left out; undefined where it is about none. */
export function unapprovedError(error: SkillcellError, diagnostics: readonly Diagnostic[]): SkillcellError | undefined {
  const left = diagnostics.filter(({ code }) => code === 'lock.not-approved');
  const about = left.filter(({ message }) => isAbout(error.message, message.slice(0, message.indexOf(' '))));
  const [first] = about;
  if (first === undefined) return undefined;
  const message = `Cannot use the skill: ${first.message.slice(first.message.indexOf(': ') + 2, -1)}, got ${first.message.slice(0, first.message.indexOf(' '))}.`;
  return new SkillcellError('lock.unapproved', message, { cause: error, diagnostics: about });
}

/** References are quoted in messages, with or without what may stand before an id. */
function isAbout(message: string, id: string): boolean {
  const short = id.startsWith('public.') ? [id.slice('public.'.length)] : [];
  return [id, ...short].some((name) =>
    ['', 'sk:', 'skill:', 'skills.', 'sk:skills.', 'skill:skills.'].some((prefix) =>
      message.includes(`"${prefix}${name}"`),
    ),
  );
}
