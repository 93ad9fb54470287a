import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withinDeadline } from '../protocol/within-deadline.ts';
import { createAddressJudge } from './address-judge.ts';
import { outgoingRefused, outgoingUnavailable } from './outgoing-refused.ts';
import type { OutgoingRules } from './outgoing-rules.ts';

/** Options of {@link resolveChecked}. */
export interface ResolveOptions extends Pick<OutgoingRules, 'allowPrivate' | 'lookup' | 'without'> {
  signal?: AbortSignal | undefined;
}

/** Characters that would end the host of a URL, or hide a part of it. */
const DELIMITER = /[\s/\\?#@%]/u;

/**
 * Resolves a host and judges all of its addresses: one forbidden address refuses the host. The connection must use one of the returned
 * addresses without another lookup.
 *
 * @param host a name or an address, in any form that a URL accepts
 * @throws SkillcellError `source.refused`, `store.unavailable` for an unknown name
 */
export async function resolveChecked(
  host: string,
  { allowPrivate = [], lookup = systemAddresses, without = [], signal }: ResolveOptions,
): Promise<string[]> {
  const name = plainHost(host);
  const judge = await createAddressJudge(allowPrivate);
  const found = isIP(name) === 0 ? await withinDeadline(lookupOf(lookup, name), { signal }) : [name];
  if (found.length === 0) throw outgoingUnavailable('its host has no address', name);
  if (without.includes('resolved')) return found;
  for (const address of found) {
    const fault = judge(address, name);
    if (fault !== undefined)
      throw outgoingRefused(
        `its host has an address that is not public (${fault})`,
        name === address ? name : `${name} at ${address}`,
      );
  }
  return found;
}

/** The host as the URL parser normalizes it, without brackets: `2130706433` and `①②⑦.0.0.1` become 127.0.0.1. */
function plainHost(host: string): string {
  const text = isIP(host) === 6 ? `[${host}]` : host;
  const url = DELIMITER.test(text) ? null : URL.parse(`https://${text}/`);
  if (url === null || url.port !== '' || url.hostname === '') throw outgoingRefused('it has no usable host', host);
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

async function lookupOf(lookup: NonNullable<OutgoingRules['lookup']>, name: string): Promise<string[]> {
  try {
    return (await lookup(name)).map(({ address }) => address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOTFOUND' ? 'its host is unknown' : `its host cannot be looked up (${code})`;
    throw outgoingUnavailable(reason, name, error);
  }
}

async function systemAddresses(name: string): Promise<{ address: string; family: number }[]> {
  return await systemLookup(name, { all: true, order: 'verbatim' });
}
