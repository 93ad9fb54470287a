import { shownPathFault } from '../../protocol/shown-path.ts';
import { quoted, usageError } from '../terminal/usage-error.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads `--env K=V` flags. @throws SkillcellError `usage.invalid` */
export function environmentFromFlags(values: readonly string[]): Record<string, string> {
  const environment = new Map<string, string>();
  for (const value of values) {
    const equals = value.indexOf('=');
    const name = value.slice(0, Math.max(0, equals));
    if (!VARIABLE.test(name)) {
      throw usageError('--env', 'it must be NAME=VALUE with a name of letters, digits and _', value);
    }
    if (environment.has(name))
      throw usageError('--env', `each name is allowed once, ${quoted(name)} is set already`, value);
    environment.set(name, value.slice(equals + 1));
  }
  return Object.fromEntries(environment);
}

/** Reads `--expect PATH` flags. @throws SkillcellError `usage.invalid` */
export function expectedOutputs(values: readonly string[]): string[] {
  for (const value of values) {
    const fault = shownPathFault(value);
    if (fault !== undefined) {
      throw usageError(
        '--expect',
        `it must be a relative path below the output folder, without . and .. (${fault})`,
        value,
      );
    }
  }
  return [...values];
}
