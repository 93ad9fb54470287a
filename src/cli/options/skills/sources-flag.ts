import { SOURCE_NAMES, type SourceName } from '../../../library/trust/source-folders.ts';
import { type CommandArguments, flagValue } from '../flags/command.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** Reads `--sources LIST`; the built-in skills without it. @throws SkillcellError `usage.invalid` */
export function sourcesFromFlags(given: CommandArguments): ReadonlySet<SourceName> {
  const list = flagValue(given, 'sources');
  if (list === undefined) return new Set(['builtin']);
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SOURCE_NAMES.some((known) => known === name));
  if (unknown !== undefined) {
    throw usageError('--sources', `it must be a list of ${SOURCE_NAMES.join(', ')}, with commas between`, list);
  }
  const chosen = new Set(names as SourceName[]);
  for (const flag of ['root', 'skills-root']) {
    if (chosen.has('builtin') || flagValue(given, flag) === undefined) continue;
    throw usageError('--sources', `--${flag} names the built-in skills, which are not among the sources`, list);
  }
  return chosen;
}
