import type { CliIo } from '../../terminal/cli-io.ts';

/**
 * Reads `SKILLCELL_ALLOW_PRIVATE`: hosts and ranges, with commas between them, that sources may be in though they are not for everybody. No flag says it,
 * so that a command line from elsewhere cannot.
 */
export function privateHosts({ env }: CliIo): string[] {
  return (env['SKILLCELL_ALLOW_PRIVATE'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
