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
  const { protocol, hostname, host, pathname } = URL.parse(url.trim()) ?? {};
  // The text may hold a password.
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || !hostname)
    throw refused(`url must be an address of the form rediss://USER:PASSWORD@HOST:6379, got ${url.length} characters`);
  if (!/^(?:\/\d{0,4})?$/.test(pathname ?? '')) throw refused('url must name a database by its number, if any');
  if (protocol === 'redis:' && !plain && !LOOPBACK.has(hostname))
    throw refused(`url must be rediss:// for a host beyond the loopback, or plain must be true, got redis://${host}`);
  return { url: url.trim(), shown: String(host) };
}

function refused(reason: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot use the fleet: ${reason}.`);
}
