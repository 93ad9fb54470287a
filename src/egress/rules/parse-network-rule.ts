import { isIP, isIPv6 } from 'node:net';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { NetworkRule } from '../../contracts/network/network-rule.ts';
import { quotedText, visibleText } from '../../contracts/text/quoted-text.ts';
import { canonicalHost } from './canonical-host.ts';
import { type CheckedRule, DEFAULT_PORTS } from './checked-rule.ts';
import { ruleText } from './describe-rules.ts';
import { isMethod } from './is-method.ts';
import { normalPath } from './normal-path.ts';
import { splitAuthority } from './read-authority.ts';
import { targetAmbiguity } from './target-ambiguity.ts';

const LONGEST_TEXT = 1_000;
const LONGEST_PATH = 400;
const SHOWN_CHARACTERS = 100;
const TEXT = /^(?:([^ ]*) )?(?:(https?):\/\/)?([^/ ]*)(\/.*)?$/;

const ruleSchema = z.strictObject({
  host: z.string().check(z.maxLength(LONGEST_TEXT)),
  port: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(65_535))),
  scheme: z.optional(z.enum(['https', 'http'])),
  methods: z.optional(z.array(z.string()).check(z.minLength(1), z.maxLength(100))),
  paths: z.optional(z.array(z.string().check(z.maxLength(LONGEST_PATH))).check(z.minLength(1), z.maxLength(1_000))),
});
type GivenRule = z.infer<typeof ruleSchema>;

/**
 * Checks a rule and brings it into its normal form. A `*` needs two labels behind it, but no list of public suffixes is read: `*.co.uk` is
 * accepted.
 *
 * @throws SkillcellError `network.rule-invalid`
 */
export function parseNetworkRule(given: NetworkRule | string): CheckedRule {
  const refuse = (reason: string): never => {
    const shown =
      typeof given === 'string' ? quotedText(given) : visibleText(JSON.stringify(given).slice(0, SHOWN_CHARACTERS));
    throw new SkillcellError('network.rule-invalid', `Cannot use the network rule: ${reason}, got ${shown}.`);
  };
  const {
    host,
    scheme = 'https',
    port,
    methods,
    paths,
  } = typeof given === 'string' ? readText(given, refuse) : checkFields(given);
  const place = readHost(host) ?? refuse(hostFault(host));
  const method = methods?.find((each) => !isMethod(each));
  if (method !== undefined) refuse(methodFault(method));
  for (const path of paths ?? []) {
    const fault = pathFault(path);
    if (fault !== undefined) refuse(`its path ${quotedText(path)} ${fault}`);
  }
  const rule = {
    scheme,
    ...place,
    port: port ?? DEFAULT_PORTS[scheme],
    ...(methods === undefined ? {} : { methods: [...new Set(methods)] }),
    ...(paths === undefined ? {} : { paths: [...new Set(paths.map(normalPath))] }),
  };
  return { text: ruleText(rule), ...rule };
}

function readText(text: string, refuse: (reason: string) => never): GivenRule {
  if (text.length > LONGEST_TEXT) return refuse(`it has more than ${LONGEST_TEXT} characters`);
  const [found, methods, scheme, place, path] = TEXT.exec(text) ?? [];
  if (found === undefined) return refuse('it does not read `[METHOD,METHOD ]HOST[:PORT][/PATH]`');
  const { host, port } = splitAuthority(place ?? '') ?? refuse('behind the host stands no port from 1 to 65535');
  return {
    host,
    port,
    scheme: scheme === 'http' ? 'http' : 'https',
    methods: methods?.split(','),
    paths: path === undefined ? undefined : [path],
  };
}

function checkFields(given: NetworkRule): GivenRule {
  const host: unknown = (given as Partial<NetworkRule> | null)?.host;
  const name = typeof host === 'string' ? ` ${quotedText(host)}` : '';
  return checkOptions(ruleSchema, given, {
    action: `use the network rule${name}`,
    whole: 'the rule',
    code: 'network.rule-invalid',
  });
}

/** Behind a wildcard stands a name of at least two labels, as `*.com` would be nearly all hosts. */
function readHost(text: string): Pick<CheckedRule, 'host' | 'below'> | undefined {
  const below = text.startsWith('*.');
  const host = canonicalHost(below ? text.slice(2) : isIPv6(text) ? `[${text}]` : text);
  if (host === undefined || (below && (isIP(host) !== 0 || !host.includes('.')))) return undefined;
  return { host, below };
}

function hostFault(text: string): string {
  return text.includes('*')
    ? 'a `*` stands only as the first label before a name of at least two labels'
    : 'its host is neither a name nor an address in its usual form';
}

function methodFault(method: string): string {
  const isUpperCase = method !== '' && method === method.toUpperCase();
  return `${quotedText(method)} is not a method ${isUpperCase ? 'that a rule can allow' : 'in capitals'}`;
}

function pathFault(path: string): string | undefined {
  if (path.length > LONGEST_PATH) return `has more than ${LONGEST_PATH} characters`;
  if (path.includes('?')) return 'has a query';
  const ambiguity = targetAmbiguity(path);
  if (ambiguity !== undefined) return `has ${ambiguity}`;
  const isGlued = path.split('/').some((segment) => segment.includes('*') && segment !== '*' && segment !== '**');
  return isGlued ? 'has a `*` that is not a whole segment' : undefined;
}
