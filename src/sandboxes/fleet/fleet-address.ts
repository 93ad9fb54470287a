import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Checked address of the Redis of a fleet. */
export interface FleetAddress {
  url: string;
  /** Host and port, for messages: an address may hold a password. */
  shown: string;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Checks the address of a fleet. Without TLS everyone on the way could read and change the bytes of sandboxes, so such an address must be on the
 * loopback.
 *
 * @param plain allows an address of another host without TLS
 * @throws SkillcellError `options.invalid`
 */
export function fleetAddress(url: string, plain: boolean): FleetAddress {
  const fault = addressFault(url, plain);
  if (fault === undefined) return { url: url.trim(), shown: URL.parse(url.trim())?.host ?? '' };
  const or = fault.needsTls ? ', or plain must be true' : '';
  throw new SkillcellError('options.invalid', `Cannot use the fleet: url ${fault.rule}${or}, got ${fault.got}.`);
}

/** Why an address cannot be used. It may hold a password, so `got` is only a part of it, or its length. */
export function addressFault(
  url: string,
  plain: boolean,
): { rule: string; got: string; needsTls: boolean } | undefined {
  const { protocol, hostname, host, pathname = '' } = URL.parse(url.trim()) ?? {};
  const got = `${url.length} characters`;
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || !hostname)
    return { rule: 'must be an address of the form rediss://USER:PASSWORD@HOST:6379', got, needsTls: false };
  if (!/^(?:\/\d{0,4})?$/.test(pathname))
    return { rule: 'must name a database by its number, if any', got, needsTls: false };
  if (protocol === 'redis:' && !plain && !LOOPBACK.has(hostname))
    return { rule: 'must be rediss:// for a host beyond the loopback', got: `redis://${host}`, needsTls: true };
  return undefined;
}
