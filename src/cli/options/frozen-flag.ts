import type { Diagnostic } from '../../contracts/diagnostic.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { CommandContext } from './command.ts';

/** The lock file of `--frozen`; undefined without the flag. Nothing of it loads then. */
export async function frozenLockFile(context: CommandContext): Promise<string | undefined> {
  if (!context.arguments.flags.has('frozen')) return undefined;
  const { lockPlace } = await import('./lock-place.ts');
  return lockPlace(context).lockFile;
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
