import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import type {
  AwsKeys,
  HeaderSecret,
  NetworkOptions,
  NetworkSecret,
  PackageOptions,
} from '../../contracts/network/network-options.ts';
import type { NetworkRule } from '../../contracts/network/network-rule.ts';
import { isOwnHost } from '../../contracts/network/own-hosts.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { isNamePattern } from '../../egress/packages/package-names.ts';
import type { RegistryKind } from '../../egress/packages/package-registry.ts';
import type { CheckedRule } from '../../egress/rules/checked-rule.ts';
import { parseNetworkRule } from '../../egress/rules/parse-network-rule.ts';

/** A checked secret of the operator, without its value. */
export type SecretSettings = HeaderSettings | AwsSettings;

/** A secret that stands in a header. */
interface HeaderSettings {
  source: HeaderSecret;
  hosts: CheckedRule[];
  header: string;
  variable: string;
}

/** Keys that sign requests. */
export interface AwsSettings {
  aws: AwsKeys;
  hosts: CheckedRule[];
}

/** The checked network option of an orchestrator. */
export interface NetworkSettings {
  allow: CheckedRule[];
  secrets: ReadonlyMap<string, SecretSettings>;
  /** Patterns of the packages that jobs may ask for, and the index of Python's. */
  packages: Record<RegistryKind, readonly string[]> & Pick<PackageOptions, 'index'>;
  allowPrivate: readonly string[];
  ca: string | undefined;
  lookup: NetworkOptions['lookup'];
  upstreamProxy: string | undefined;
  audit: NetworkOptions['audit'];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Headers whose value decides where a request goes, or where its body ends. */
const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade']);

const aFunction = z.custom((value) => typeof value === 'function', 'must be a function');
const name = z.string().check(z.regex(NAME, 'must be a name of letters, digits and _'));
const rule = z.union([z.string(), z.looseObject({ host: z.string() })], 'must be a rule such as "api.example.com"');
const hosts = z.array(z.string()).check(z.minLength(1), z.maxLength(100));
const secretFields = {
  hosts,
  header: z.optional(
    z.string().check(
      z.regex(HEADER, 'must be the name of a header'),
      z.refine((header) => !FRAMING.has(header.toLowerCase()), 'must not be a header that frames the request'),
    ),
  ),
  variable: z.optional(name),
};
const sources = [
  { value: z.string() },
  { env: name },
  { file: z.string().check(z.minLength(1)) },
  { get: aFunction },
] as const;
const keyPart = z.union(
  [z.string(), ...sources.map((source) => z.strictObject(source))],
  'must be a text, { value }, { env }, { file } or { get }',
);
const secret = z.union(
  [
    ...sources.map((source) => z.strictObject({ ...secretFields, ...source })),
    z.strictObject({
      hosts,
      aws: z.strictObject({ accessKeyId: keyPart, secretAccessKey: keyPart, sessionToken: z.optional(keyPart) }),
    }),
  ],
  'must be { value, hosts }, { env, hosts }, { file, hosts }, { get, hosts } or { aws, hosts }',
);

const patterns = (kind: RegistryKind): z.ZodMiniType =>
  z.optional(
    z
      .array(
        z
          .string()
          .check(z.refine((text) => isNamePattern(kind, text), 'must be a name or a pattern such as `@acme/*` or `*`')),
      )
      .check(z.maxLength(1_000)),
  );
const webUrl = z
  .string()
  .check(z.refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'must be a URL of http or https'));

/** Schema of the network option of an orchestrator. */
export const networkSchema: z.ZodMiniType<NetworkOptions> = z.strictObject({
  allow: z.array(rule).check(z.maxLength(1_000)),
  secrets: z.optional(z.record(name, secret)),
  packages: z.optional(z.strictObject({ npm: patterns('npm'), pypi: patterns('pypi'), index: z.optional(webUrl) })),
  caFile: z.optional(z.string().check(z.minLength(1))),
  allowPrivate: z.optional(z.array(z.string())),
  lookup: z.optional(aFunction),
  upstreamProxy: z.optional(webUrl),
  audit: z.optional(aFunction),
}) as unknown as z.ZodMiniType<NetworkOptions>;

/**
 * Reads the rules and the certificates of the network option.
 *
 * @throws SkillcellError `network.rule-invalid`, `options.invalid` for a file without certificates
 */
export function networkSettings(options: NetworkOptions): NetworkSettings {
  const { allow, secrets = {}, packages = {}, allowPrivate = [], caFile, lookup, upstreamProxy, audit } = options;
  const read = ([key, source]: [string, NetworkSecret]): [string, SecretSettings] => {
    const rules = source.hosts.map((host) => secretHost(key, host));
    if ('aws' in source) return [key, { aws: source.aws, hosts: rules }];
    const { header = 'authorization', variable = key } = source;
    return [key, { source, hosts: rules, header: header.toLowerCase(), variable }];
  };
  return {
    allow: allow.map(reachableRule),
    secrets: new Map(Object.entries(secrets).map(read)),
    packages: { npm: [], pypi: [], ...packages },
    allowPrivate,
    ca: caFile === undefined ? undefined : readCertificates(caFile),
    lookup,
    upstreamProxy,
    audit,
  };
}

/**
 * Refuses `localhost`, where a program finds its own servers. By its address a program reaches this host, if it names the proxy itself.
 *
 * @throws SkillcellError `network.rule-invalid`
 */
function reachableRule(given: NetworkRule | string): CheckedRule {
  const rule = parseNetworkRule(given);
  if (!isOwnHost(rule.host) || isIP(rule.host) !== 0) return rule;
  const message = `Cannot use the network rule: a program finds its own sandbox at ${quotedText(rule.host)}; give the service another host name.`;
  throw new SkillcellError('network.rule-invalid', message);
}

/** A host of a secret: it gets the value whatever the method and the path, and only over TLS. */
function secretHost(name: string, text: string): CheckedRule {
  const host = reachableRule(text);
  if (host.scheme === 'https' && host.methods === undefined && host.paths === undefined) return host;
  const message = `Cannot create the orchestrator: network.secrets.${name}.hosts must name hosts of https without methods and paths, got ${quotedText(text)}.`;
  throw new SkillcellError('options.invalid', message);
}

function readCertificates(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    throw new Error('it holds no certificate in PEM');
  } catch (cause) {
    const message = `Cannot create the orchestrator: network.caFile cannot be used, got ${quotedText(path)} (${(cause as Error).message}).`;
    throw new SkillcellError('options.invalid', message, { cause });
  }
}
