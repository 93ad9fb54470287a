import type { JobOptions } from '../../../contracts/jobs/job.ts';
import type { Isolation } from '../../../contracts/jobs/result.ts';
import type { NetworkOptions, NetworkSecret } from '../../../contracts/network/network-options.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { OrchestratorOptions } from '../../../jobs/orchestrator.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { quoted, usageError } from '../../terminal/usage-error.ts';
import { type RegistryKind, registryRule } from '../../../egress/packages/package-registry.ts';
import { packagesFromFlags } from '../flags/package-flag.ts';
import { type CommandContext, flagValue, flagValues } from '../flags/command.ts';
import { privateHosts } from '../flags/private-hosts.ts';

/** The network that flags give: the whole of it to the operator's side, and to each job. */
export interface CliNetwork extends Disposable {
  host: Pick<OrchestratorOptions, 'network'>;
  job: Pick<JobOptions, 'network' | 'secrets' | 'packages'>;
}

const KINDS: readonly RegistryKind[] = ['npm', 'pypi'];
/** Capitals only, as is usual for variables: a token that was typed in place of a name does not match, and is not repeated. */
const VARIABLE = /^[A-Z_][A-Z0-9_]{0,99}$/;
/** A host as a rule has it, without path and methods; whether it is one is checked with the rules. */
const HOST = /^[^\s/@?#]+$/;

/**
 * Reads `--allow-host`, `--secret`, `--package`, `--network`, `--network-log`, `SKILLCELL_ALLOW_PRIVATE` and `SKILLCELL_UPSTREAM_PROXY`. The whole
 * network is checked, and the log is open. No message holds the value of a secret.
 *
 * @param isOfFile whether the file of `--network` alone has the hosts: the `--allow-host` of `serve` names the service itself
 * @returns empty options without these flags
 * @throws SkillcellError `usage.invalid`, `file.unreadable`, or as for a job with this network
 */
export async function networkFromFlags(context: CommandContext, isOfFile = false): Promise<CliNetwork> {
  const { arguments: given, io } = context;
  const path = flagValue(given, 'network');
  const log = flagValue(given, 'network-log');
  const secrets = secretsFromFlags(flagValues(given, 'secret'), io);
  const { allow: ofFile, secrets: secretsOfFile = {}, packages: ofRegistries = {}, ...file } = await readFile(path, io);
  const rules = isOfFile ? [] : flagValues(given, 'allow-host');
  const packages = packagesFromFlags(flagValues(given, 'package'));
  const asked = KINDS.filter((kind) => rules.includes(registryRule(kind)) || ofRegistries[kind] !== undefined);
  const registries = asked.map(registryRule);
  const allow = [...ofFile, ...rules.filter((rule) => !KINDS.some((kind) => rule === registryRule(kind)))];
  if (allow.length === 0 && registries.length === 0 && packages.job.packages === undefined) {
    const useless = ['secret', 'network', 'network-log'].find((flag) => given.flags.has(flag));
    if (useless === undefined) return { host: {}, job: {}, [Symbol.dispose]: () => undefined };
    const value = flagValue(given, useless) ?? '';
    throw usageError(
      `--${useless}`,
      'no host is allowed, so there is no network',
      useless === 'secret' ? value.slice(0, value.indexOf('=')) : value,
      isOfFile
        ? 'Name hosts in `allow` of the file of --network.'
        : 'Allow hosts: `--allow-host RULE`, such as `--allow-host api.example.com`.',
    );
  }
  const twice = Object.keys(secrets).find((name) => Object.hasOwn(secretsOfFile, name));
  if (twice !== undefined) throw usageError('--secret', 'the file of --network has a secret of this name', twice);
  const proxy = file.upstreamProxy ?? proxyOf(io);
  const network: NetworkOptions = {
    ...file,
    allow,
    secrets: { ...secretsOfFile, ...secrets },
    // The names of dependencies are not known beforehand, so a flag allows all names of its registry.
    packages: { ...Object.fromEntries(asked.map((kind) => [kind, ['*']])), ...packages.allowed, ...ofRegistries },
    allowPrivate: privateHosts(io),
    ...(proxy === undefined ? {} : { upstreamProxy: proxy }),
  };
  const job = { network: [...allow, ...registries], secrets: Object.keys(network.secrets ?? {}), ...packages.job };
  await checkNetwork(network, { ...job, isolation: flagValue(given, 'isolation') as Isolation | undefined });
  if (log === undefined) return { host: { network }, job, [Symbol.dispose]: () => undefined };
  const { openNetworkLog } = await import('./network-log.ts');
  const opened = openNetworkLog(log, context);
  return { host: { network: { ...network, audit: opened.write } }, job, [Symbol.dispose]: opened.close };
}

/** Loaded only here: a job without a network loads nothing of it. */
async function readFile(path: string | undefined, io: CliIo): Promise<NetworkOptions> {
  if (path === undefined) return { allow: [] };
  const { readNetworkFile } = await import('./network-file.ts');
  return readNetworkFile(path, io);
}

/** The command fails before it reads its input or serves a client. */
async function checkNetwork(
  network: NetworkOptions,
  asked: CliNetwork['job'] & { isolation: Isolation | undefined },
): Promise<void> {
  const { networkSettings } = await import('../../../jobs/network/network-settings.ts');
  const { checkJobNetwork } = await import('../../../jobs/network/job-network.ts');
  const { secretValues } = await import('../../../jobs/network/secret-values.ts');
  const { allowedPlaces } = await import('../../../outgoing/allowed-places.ts');
  await allowedPlaces(network.allowPrivate ?? []);
  const checked = checkJobNetwork(asked, networkSettings(network));
  await secretValues(checked?.secrets ?? new Map());
}

/** Reads `--secret NAME=HOST[,HOST]` flags. @throws SkillcellError `usage.invalid` */
function secretsFromFlags(values: readonly string[], { env }: CliIo): Record<string, NetworkSecret> {
  const secrets = new Map<string, NetworkSecret>();
  for (const given of values) {
    const end = given.indexOf('=');
    const name = given.slice(0, Math.max(0, end));
    const hosts = given.slice(end + 1).split(',');
    if (!VARIABLE.test(name) || !hosts.every((host) => HOST.test(host)))
      // The text may hold the secret itself, so only its length is shown.
      throw new SkillcellError(
        'usage.invalid',
        `Cannot use --secret: it must be NAME=HOST[,HOST], the name of an environment variable in capitals and the hosts that get its value, got another text of ${given.length} characters.`,
        { hint: 'For example: `--secret GITHUB_TOKEN=api.github.com`.' },
      );
    if (secrets.has(name)) throw usageError('--secret', 'a secret is named once, with all its hosts', name);
    const value = env[name] ?? '';
    if (value === '') throw usageError('--secret', 'the environment variable is not set, or empty', name);
    secrets.set(name, { value, hosts });
  }
  return Object.fromEntries(secrets);
}

/** The proxy's URL may hold a password, so no message shows it. */
function proxyOf({ env }: CliIo): string | undefined {
  const url = env['SKILLCELL_UPSTREAM_PROXY'] ?? '';
  if (url === '') return undefined;
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url;
  const variable = quoted('SKILLCELL_UPSTREAM_PROXY');
  const message = `Cannot use the upstream proxy: it must be a URL of http or https, got another text in the environment variable ${variable}.`;
  throw new SkillcellError('usage.invalid', message);
}
