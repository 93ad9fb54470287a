import type { ConnectServiceOptions } from '../../../client/service-client.ts';
import { type CommandContext, flagValue } from '../flags/command.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** Flags about this machine, which a service decides on. */
const OF_THIS_MACHINE =
  'runner fleet-file plain queue descriptor skills-root sources frozen lock mcp secret network network-log replay record'.split(
    ' ',
  );

/**
 * The service that `--server` names; undefined without the flag.
 *
 * @throws SkillcellError `usage.invalid` without a token, or beside a flag about this machine
 */
export function serviceFromFlags({ arguments: given, io }: CommandContext): ConnectServiceOptions | undefined {
  const url = flagValue(given, 'server');
  if (url === undefined) return undefined;
  const other = OF_THIS_MACHINE.find((name) => given.flags.has(name));
  if (other !== undefined) throw usageError(`--${other}`, 'the service of --server decides on it', `--server ${url}`);
  const token = io.env['SKILLCELL_TOKEN'] ?? '';
  if (!/^https?:\/\//i.test(url)) throw usageError('--server', 'it must be an http or https address', url);
  if (token !== '') return { url, token };
  throw usageError('--server', 'the environment variable SKILLCELL_TOKEN must hold a token of the service', url);
}
