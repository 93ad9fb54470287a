import { dirname, resolve } from 'node:path';
import { checkOptions } from '../../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type {
  AwsKeys,
  NetworkOptions,
  NetworkSecret,
  SecretValue,
} from '../../../contracts/network/network-options.ts';
import { networkSchema } from '../../../jobs/network/network-settings.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { readInputFile, readSecretFile } from '../../terminal/input-file.ts';
import { parseSecretJson } from '../../terminal/parse-secret-json.ts';
import { quoted } from '../../terminal/usage-error.ts';

const FLAG = '--network';
const FILE_BYTES = 1024 * 1024;
/** Fields of a secret whose text is no value. */
const PUBLIC: ReadonlySet<string> = new Set(['hosts', 'header', 'variable', 'file']);
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

/**
 * Reads the file of `--network`: the option `network` of an orchestrator as JSON, without functions. Its relative paths start at its folder, and
 * its secrets have their values from the environment already. No message holds a value.
 *
 * @throws SkillcellError `options.invalid` with the file's name, `file.unreadable`
 */
export function readNetworkFile(path: string, io: CliIo): NetworkOptions {
  const bytes = readInputFile(FLAG, path, FILE_BYTES, io);
  const given = parseSecretJson(bytes, FILE_BYTES, (reason) => refused(path, reason));
  if (isObject(given) && Object.hasOwn(given, 'allowPrivate'))
    throw refused(path, 'allowPrivate stands in no file: name private hosts in the variable SKILLCELL_ALLOW_PRIVATE');
  checkOptions(networkSchema, masked(given), { action: `use ${FLAG} ${quoted(path)}`, whole: 'the file' });
  const options = given as NetworkOptions;
  const secrets = Object.entries(options.secrets ?? {});
  // Others must not read a value.
  if (secrets.some(([, secret]) => holdsValue(secret))) readSecretFile(FLAG, path, FILE_BYTES, io);
  const folder = dirname(resolve(io.cwd(), path));
  return {
    ...options,
    ...(options.caFile === undefined ? {} : { caFile: resolve(folder, options.caFile) }),
    secrets: Object.fromEntries(secrets.map(([name, secret]) => [name, present(secret, folder, io)])),
  };
}

/** Whether a secret stands in the file itself. */
function holdsValue(secret: NetworkSecret): boolean {
  if (!('aws' in secret)) return 'value' in secret;
  return Object.values(secret.aws).some((part: SecretValue | string) => typeof part === 'string' || 'value' in part);
}

/** The same secret, independent of the folder and of the environment. */
function present(secret: NetworkSecret, folder: string, io: CliIo): NetworkSecret {
  if (!('aws' in secret)) return presentValue(secret, folder, io);
  const parts = Object.entries(secret.aws).map(([part, source]: [string, SecretValue | string]) => [
    part,
    typeof source === 'string' ? source : presentValue(source, folder, io),
  ]);
  return { ...secret, aws: Object.fromEntries(parts) as unknown as AwsKeys };
}

function presentValue<T extends SecretValue>(source: T, folder: string, { env }: CliIo): T {
  if ('file' in source) return { ...source, file: resolve(folder, source.file) };
  if (!('env' in source)) return source;
  const { env: variable, ...rest } = source;
  return { ...rest, value: env[variable] ?? '' } as unknown as T;
}

/** The same options without values of secrets, which a message would repeat, even from a misspelt field. */
function masked(given: unknown): unknown {
  if (!isObject(given) || !isObject(given['secrets'])) return given;
  const maskedSecrets = Object.entries(given['secrets']).map(([name, secret]) => [
    name,
    isObject(secret) ? Object.fromEntries(Object.entries(secret).map(maskedField)) : maskedText(secret),
  ]);
  return { ...given, secrets: Object.fromEntries(maskedSecrets) };
}

function maskedField([field, value]: [string, unknown]): [string, unknown] {
  const isShown = PUBLIC.has(field) || (field === 'env' && typeof value === 'string' && VARIABLE.test(value));
  return [field, isShown ? value : maskedText(value)];
}

function maskedText(value: unknown): unknown {
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(maskedField));
  return typeof value === 'string' ? '…' : typeof value === 'number' ? 0 : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(path: string, reason: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot use ${FLAG}: ${reason}, got ${quoted(path)}.`);
}
