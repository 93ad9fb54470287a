import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Agent, buildConnector } from 'undici';
import { type AddressJudge, createAddressJudge } from './address-judge.ts';
import { outgoingRefused } from './outgoing-refused.ts';
import type { OutgoingRules } from './outgoing-rules.ts';
import { resolveChecked } from './resolve-checked.ts';

const HEADER_BYTES = 16 * 1024;
const UNLIMITED_HEADER_BYTES = 1024 * 1024;

/**
 * Opens connections whose addresses are judged twice: all addresses of a host before connecting, and the address of the final connection. The
 * host is not resolved again in between.
 */
export async function openConnections(
  rules: OutgoingRules,
  { headerBytes = HEADER_BYTES, idleMs = 0, secureContext, onConnected }: ConnectionOptions = {},
): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici');
  const { allowPrivate = [], without = [] } = rules;
  const judge = await createAddressJudge(allowPrivate);
  const connector = (lookup: LookupFunction): buildConnector.connector =>
    buildConnector({
      ...{ allowH2: false, lookup, rejectUnauthorized: !without.includes('certificate') },
      ...(secureContext === undefined ? {} : { secureContext }),
    });
  return new Agent({
    connect: (options, callback) => void connectChecked({ rules, judge, connector, onConnected }, options, callback),
    maxHeaderSize: without.includes('headers') ? UNLIMITED_HEADER_BYTES : headerBytes,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });
}

/** Options of {@link openConnections}. */
export interface ConnectionOptions {
  /** Most bytes of the headers of an answer. @default 16 KiB */
  headerBytes?: number;
  /** Most milliseconds without a byte of an answer. @default 0: the request has a deadline of its own */
  idleMs?: number;
  /** Certificates that are trusted. @default those of Node */
  secureContext?: SecureContext | undefined;
  /** Called with the address of each new connection. */
  onConnected?: ((origin: string, address: string) => void) | undefined;
}

interface Connecting extends Pick<ConnectionOptions, 'onConnected'> {
  rules: OutgoingRules;
  judge: AddressJudge;
  connector(lookup: LookupFunction): buildConnector.connector;
}

/** Never rejects: the callback gets the outcome. */
async function connectChecked(
  { rules, judge, connector, onConnected }: Connecting,
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
  connector(lookup)(options, (...[error, socket]) => {
    if (error !== null) return callback(error, null);
    const fault = without.includes('connected') ? undefined : judge(socket.remoteAddress ?? '', host);
    if (fault === undefined) {
      onConnected?.(`${options.protocol}//${options.host}`, socket.remoteAddress ?? '');
      return callback(null, socket);
    }
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
