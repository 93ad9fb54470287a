import type { IncomingMessage } from 'node:http';
import type { DenialReason } from '../../contracts/network/denial-reasons.ts';
import { ambiguousHeader } from '../rules/ambiguous-header.ts';
import { DEFAULT_PORTS } from '../rules/checked-rule.ts';
import type { NetworkRequest } from '../rules/judge-request.ts';
import { readAuthority } from '../rules/read-authority.ts';
import { pairs } from './passed-headers.ts';
import type { Tunnel } from './serve-connection.ts';

/** The target of a request, and the fault of a request whose parts do not name one target. */
export interface ReadTarget {
  target: NetworkRequest;
  fault?: { reason: DenialReason; what: string };
}

const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);
const ABSOLUTE = /^(https?):\/\/([^/?#]*)([/?].*)?$/is;

/**
 * Reads the target of a request from its tunnel, its first line and its Host header. All must name the same host.
 *
 * @param single further headers that may stand once, in lower case
 */
export function readTarget(
  request: IncomingMessage,
  tunnel: Tunnel | undefined,
  single: ReadonlySet<string>,
): ReadTarget {
  const { method = '', url = '', rawHeaders } = request;
  const absolute = ABSOLUTE.exec(url);
  const path = absolute === null ? url : (absolute[3] ?? '/').replace(/^\?/, '/?');
  const named =
    absolute === null ? undefined : place(absolute[2] ?? '', absolute[1]?.toLowerCase() as 'http' | 'https');
  const scheme = tunnel === undefined ? 'http' : tunnel.isTls ? 'https' : 'http';
  const host = hostHeader(rawHeaders);
  const told = host === undefined ? undefined : place(host, scheme);
  const at = tunnel ?? named ?? told ?? { host: '', port: DEFAULT_PORTS[scheme] };
  const target = { scheme, host: at.host, port: at.port, method, path } as const;
  const refused = (reason: DenialReason, what: string): ReadTarget => ({ target, fault: { reason, what } });

  if (!VERSIONS.has(request.httpVersion)) return refused('protocol-refused', `HTTP/${request.httpVersion}`);
  if (request.headers.upgrade !== undefined) return refused('protocol-refused', 'an upgrade');
  const twice = ambiguousHeader(rawHeaders, single);
  if (twice !== undefined) return refused('target-ambiguous', `two headers ${twice}`);
  if (tunnel === undefined && named === undefined)
    return refused('protocol-refused', 'a request to the proxy itself, which serves no pages');
  if (tunnel === undefined && !/^http:/i.test(url))
    return refused('protocol-refused', 'a request for https without a tunnel');
  const others = [
    ...(absolute === null ? [] : [named]),
    ...(host === undefined ? [] : [told]),
    ...(tunnel?.name === undefined ? [] : [place(tunnel.name, scheme, tunnel.port)]),
  ];
  const odd = others.find((other) => other?.host !== target.host || other.port !== target.port);
  const isOdd = others.length > 0 && (odd !== undefined || others.includes(undefined));
  return isOdd
    ? refused(
        'authority-mismatch',
        `${odd === undefined ? 'a host of no known form' : shown(odd)} beside ${shown(target)}`,
      )
    : { target };
}

function place(
  text: string,
  scheme: 'http' | 'https',
  port: number = DEFAULT_PORTS[scheme],
): { host: string; port: number } | undefined {
  return readAuthority(text, port);
}

function shown({ host, port }: { host: string; port: number }): string {
  return `${host}:${port}`;
}

function hostHeader(raw: readonly string[]): string | undefined {
  for (const [name, value] of pairs(raw)) if (name.toLowerCase() === 'host') return value;
  return undefined;
}
