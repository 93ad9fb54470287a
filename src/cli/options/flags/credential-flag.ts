import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { type CommandContext, flagValues } from './command.ts';

/** Capitals only, as is usual for variables: a token that was typed in place of a name does not match, and is not repeated. */
const VARIABLE = /^[A-Z_][A-Z0-9_]{0,99}$/;
const ABOUT = '--credential';

/**
 * The tokens of `--credential ORIGIN=VARIABLE`, by origin. No message holds the value of a variable.
 *
 * @throws SkillcellError `usage.invalid`
 */
export function tokensFromFlags({ arguments: given, io }: CommandContext): Map<string, string> {
  const tokens = new Map<string, string>();
  for (const value of flagValues(given, 'credential')) {
    const end = value.lastIndexOf('=');
    const [origin, variable] = [originOf(value.slice(0, end)), value.slice(end + 1)];
    if (end < 0 || origin === undefined || !VARIABLE.test(variable))
      // The text may hold a secret anywhere, so only its length is shown.
      throw new SkillcellError(
        'usage.invalid',
        `Cannot use ${ABOUT}: it must be ORIGIN=VARIABLE, an https address without a path and the name of an environment variable in capitals, got another text of ${value.length} characters.`,
        { hint: 'For example: `--credential https://github.com=GITHUB_TOKEN`.' },
      );
    if (tokens.has(origin)) throw usageError(ABOUT, 'an origin has one token', origin);
    const token = io.env[variable] ?? '';
    if (token === '') throw usageError(ABOUT, 'the environment variable is not set, or empty', variable);
    if (/\p{Cc}/u.test(token))
      throw usageError(ABOUT, 'the value of the environment variable has control characters', variable);
    tokens.set(origin, token);
  }
  return tokens;
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  // With a user, a path or a query it is more than an origin.
  return url?.protocol === 'https:' && url.href === `${url.origin}/` ? url.origin : undefined;
}
