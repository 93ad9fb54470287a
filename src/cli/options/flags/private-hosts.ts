import type { CliIo } from '../../terminal/cli-io.ts';

/**
 * Reads `SKILLCELL_ALLOW_PRIVATE`: private hosts and ranges, separated by commas, that sources may be in. There is no flag for it,
 * so that a command line from elsewhere cannot allow them.
 */
export function privateHosts({ env }: CliIo): string[] {
  return (env['SKILLCELL_ALLOW_PRIVATE'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
