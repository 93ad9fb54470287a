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

/** What would end the host of an address, or hide a part of it. */
const DELIMITER = /[\s/\\?#@%]/u;

/**
 * Resolves a host, and judges every address that it has: one that may not be reached refuses the host. What connects takes one of these
 * addresses, and does not ask for others.
 *
 * @param host a name or an address, in any form that a URL may have it in
 * @throws SkillcellError `source.refused`, `store.unavailable` for a name that is not known
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
        `its host is at an address that is not for everybody (${fault})`,
        name === address ? name : `${name} at ${address}`,
      );
  }
  return found;
}

/** A host as the parser of URLs has it, without the brackets of an address: `2130706433` and `①②⑦.0.0.1` are 127.0.0.1. */
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
    const reason = code === 'ENOTFOUND' ? 'its host is not known' : `its host cannot be looked up (${code})`;
    throw outgoingUnavailable(reason, name, error);
  }
}

async function systemAddresses(name: string): Promise<{ address: string; family: number }[]> {
  return await systemLookup(name, { all: true, order: 'verbatim' });
}
