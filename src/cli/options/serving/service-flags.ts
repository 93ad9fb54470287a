import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { stateFolder } from '../../../durable/user-folders.ts';
import type { ReplicaOptions } from '../../../server/open-service.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { type CommandArguments, type CommandContext, flagValue, flagValues } from '../flags/command.ts';
import { parseNumber } from '../flags/parse-number.ts';

const PORT = { minimum: 0, maximum: 65_535, unit: 'the port' };
const DRAIN = { minimum: 0, maximum: 3_600, unit: 'seconds' };
const KEEP_DAYS = { minimum: 1, maximum: 3_650, unit: 'days' };
const JOBS = { minimum: 1, maximum: 10_000, unit: 'jobs' };
const MAX_WAITING = { minimum: 1, maximum: 1_000_000, unit: 'jobs' };
/** A name, or an address of version 6 in brackets. */
const HOST_NAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Flags of the service itself. */
export interface ServiceFlags {
  folder: string;
  databaseUrl: string | undefined;
  replica: ReplicaOptions | undefined;
  host: string;
  port: number;
  allowHosts: string[];
  behindProxy: boolean;
  drainMs: number;
  keepDays: number;
  maxWaiting: number;
  /** Undefined for the default of the runner. */
  jobs: number | undefined;
}

/** @throws SkillcellError `usage.invalid` */
export function serviceFlags({ arguments: given, io }: CommandContext): ServiceFlags {
  const number = (name: string, fallback: number, range: Parameters<typeof parseNumber>[2]): number => {
    const text = flagValue(given, name);
    return text === undefined ? fallback : parseNumber(`--${name}`, text, range);
  };
  const host = flagValue(given, 'host') ?? '127.0.0.1';
  const behindProxy = given.flags.has('behind-proxy');
  if (isIP(host) === 0 && host !== 'localhost')
    throw usageError('--host', 'it must be an IP address or localhost', host);
  if (!LOOPBACK.includes(host) && !behindProxy) {
    const advice = 'Let a proxy end TLS, and add --behind-proxy.';
    throw usageError('--host', 'other machines could read the tokens of requests without TLS', host, advice);
  }
  const databaseUrl = flagValue(given, 'database');
  if (databaseUrl !== undefined && !/^postgres(?:ql)?:$/.test(URL.parse(databaseUrl)?.protocol ?? '')) {
    // The text may hold a password.
    throw usageError(
      '--database',
      'it must be an address of the form postgres://USER@HOST/NAME',
      `${databaseUrl.length} characters`,
    );
  }
  const state = flagValue(given, 'state');
  if (state === '') throw usageError('--state', 'it must name a folder', state);
  const allowHosts = flagValues(given, 'allow-host').map((name) => name.toLowerCase());
  const notHost = allowHosts.find((name) => URL.parse(`http://${name}`)?.hostname !== name || !HOST_NAME.test(name));
  if (notHost !== undefined)
    throw usageError('--allow-host', 'it must be one name or address, without a port or wildcard', notHost);
  const replica = replicaFromFlags(given, databaseUrl);
  if (replica !== undefined) allowHosts.push(new URL(replica.url).hostname);
  return {
    folder: state === undefined ? stateFolder(io.env) : resolve(io.cwd(), state),
    ...{ databaseUrl, replica, host, behindProxy, allowHosts },
    port: number('port', 7_420, PORT),
    drainMs: number('drain', 30, DRAIN) * 1_000,
    keepDays: number('keep-days', 30, KEEP_DAYS),
    maxWaiting: number('max-waiting', 1_000, MAX_WAITING),
    jobs: given.flags.has('jobs') ? number('jobs', 0, JOBS) : undefined,
  };
}

/** @throws SkillcellError `usage.invalid` */
function replicaFromFlags(given: CommandArguments, databaseUrl: string | undefined): ReplicaOptions | undefined {
  if (!given.flags.has('replica')) {
    const name = ['advertise', 'files'].find((each) => given.flags.has(each));
    if (name === undefined) return undefined;
    throw usageError(`--${name}`, 'only a replica has it', flagValue(given, name) ?? '', 'Add --replica.');
  }
  const [advertise, files] = [flagValue(given, 'advertise'), flagValue(given, 'files')];
  if (databaseUrl === undefined || advertise === undefined || files === undefined) {
    const missing = ['database', 'advertise', 'files'].filter((name) => !given.flags.has(name));
    throw new SkillcellError('usage.invalid', `Cannot use --replica without --${missing.join(', --')}.`, {
      hint: 'Replicas share a PostgreSQL database and a bucket, and reach each other.',
    });
  }
  const url = URL.parse(advertise);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) {
    // The text may hold a password.
    const got = `${advertise.length} characters`;
    throw usageError('--advertise', 'it must be an address of the form http://HOST:PORT', got);
  }
  if (!/^s3:\/\/[^/]+(?:\/.*)?$/.test(files))
    throw usageError('--files', 'it must be an address of the form s3://BUCKET/PREFIX', files);
  return { url: url.origin, files };
}
