import { canonicalHost } from './canonical-host.ts';

/** A host in the form of `canonicalHost`, and a port. */
export interface Authority {
  host: string;
  port: number;
}

const PRINTABLE = /^[!-~]+$/;
const PARTS = /^(\[[^\]]*\]|[^:]*)(?::([1-9]\d{0,4}))?$/;
const LAST_PORT = 65_535;

/**
 * Reads `HOST[:PORT]` of a CONNECT target, a Host header, or the server name of a TLS handshake.
 *
 * @param text as received, bytes as Latin-1
 * @param defaultPort port of a text without one
 * @returns undefined for a text that another parser could read differently, or refuse
 */
export function readAuthority(text: string, defaultPort: number): Authority | undefined {
  const parts = PRINTABLE.test(text) ? splitAuthority(text) : undefined;
  const host = parts === undefined ? undefined : canonicalHost(parts.host);
  return host === undefined ? undefined : { host, port: parts?.port ?? defaultPort };
}

/** Splits `HOST[:PORT]` without a look at the host. Undefined if the port is not one in its shortest form. */
export function splitAuthority(text: string): { host: string; port: number | undefined } | undefined {
  const found = PARTS.exec(text);
  if (found === null) return undefined;
  const port = found[2] === undefined ? undefined : Number(found[2]);
  return port !== undefined && port > LAST_PORT ? undefined : { host: found[1] ?? '', port };
}
