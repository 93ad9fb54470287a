import { isIP, type LookupFunction } from 'node:net';
import type { Agent, buildConnector } from 'undici';
import { type AddressJudge, createAddressJudge } from './address-judge.ts';
import { outgoingRefused } from './outgoing-refused.ts';
import type { OutgoingRules } from './outgoing-rules.ts';
import { resolveChecked } from './resolve-checked.ts';

/** Most bytes of the headers of an answer. */
const HEADER_BYTES = 16 * 1024;
const UNLIMITED_HEADER_BYTES = 1024 * 1024;

/**
 * Opens connections whose addresses are judged twice: all addresses of a host before connecting, and the address of the final connection. The
 * host is not resolved again in between.
 */
export async function openConnections(rules: OutgoingRules): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici');
  const { allowPrivate = [], without = [] } = rules;
  const judge = await createAddressJudge(allowPrivate);
  return new Agent({
    connect: (options, callback) => void connectChecked({ rules, judge, buildConnector }, options, callback),
    maxHeaderSize: without.includes('headers') ? UNLIMITED_HEADER_BYTES : HEADER_BYTES,
    // The request clock sets the deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

interface Connecting {
  rules: OutgoingRules;
  judge: AddressJudge;
  buildConnector: typeof buildConnector;
}

/** Never rejects: the callback gets the outcome. */
async function connectChecked(
  { rules, judge, buildConnector }: Connecting,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
): Promise<void> {
  const { without = [] } = rules;
  const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
  let lookup: LookupFunction;
  try {
    const addresses = await resolveChecked(host, rules);
    lookup = without.includes('pinned') ? unpinned(rules, host) : pinned(addresses);
  } catch (error) {
    return callback(error as Error, null);
  }
  buildConnector({ allowH2: false, lookup })(options, (...[error, socket]) => {
    if (error !== null) return callback(error, null);
    const fault = without.includes('connected') ? undefined : judge(socket.remoteAddress ?? '', host);
    if (fault === undefined) return callback(null, socket);
    socket.destroy();
    callback(outgoingRefused(`its connection ends at an address that is not public (${fault})`, host), null);
  });
}

/** Node asks for one address or for all. It does not ask if the host is an address itself. */
function pinned(addresses: readonly string[]): LookupFunction {
  return (_host, { all }, callback) => {
    const known = addresses.map((address) => ({ address, family: isIP(address) }));
    if (all === true) return callback(null, known);
    const [first] = known;
    callback(null, first?.address ?? '', first?.family);
  };
}

function unpinned(rules: OutgoingRules, host: string): LookupFunction {
  const ask = async (...[name, options, callback]: Parameters<LookupFunction>): Promise<void> =>
    pinned(await resolveChecked(host, { ...rules, without: ['resolved'] }))(name, options, callback);
  return (...asked) => void ask(...asked);
}
