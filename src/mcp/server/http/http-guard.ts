import type { IncomingMessage } from 'node:http';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { HttpRefused } from './http-refusal.ts';

/** The path of the server. */
export const MCP_PATH = '/mcp';

/**
 * Passes requests of programs of this machine that have the token. A page in a browser has another origin, or reaches this address under
 * another host name (DNS rebinding): both are refused before the token is looked at.
 *
 * @throws {HttpRefused}
 */
export function guardRequest(
  request: IncomingMessage,
  isAllowed: (authorization: string | undefined) => boolean,
): void {
  const { headers, method, url = '' } = request;
  const host = validateHostHeader(headers.host, localhostAllowedHostnames());
  if (!host.ok) throw new HttpRefused(403, 'the Host must be 127.0.0.1 or localhost');
  const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins());
  if (!origin.ok) throw new HttpRefused(403, 'the Origin must be one of this machine');
  if (!isAllowed(headers.authorization)) {
    const reason = 'it needs the bearer token of this server';
    throw new HttpRefused(401, reason, { headers: { 'www-authenticate': 'Bearer realm="skillcell"' } });
  }
  if (url.split('?')[0] !== MCP_PATH) throw new HttpRefused(404, `the only path is ${MCP_PATH}`);
  if (method !== 'POST') throw new HttpRefused(405, 'it must be a POST', { headers: { allow: 'POST' } });
}
