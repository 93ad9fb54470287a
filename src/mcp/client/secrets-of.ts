import { isAddress, type McpServer } from './mcp-servers.ts';
import { keptSecrets } from './server-secrets.ts';

/** The shortest text that is looked for where nothing says that all of it is secret: `Bearer` in front of a token is none, nor is a port. */
const PART = 8;

/** What no message may repeat of how a server is reached: values of its variables or headers, their parts, and what was put into it as a secret. */
export function secretsOf(server: McpServer): string[] {
  const values = Object.values((isAddress(server) ? server.headers : server.env) ?? {});
  const queries = isAddress(server) ? [...new URL(server.url).searchParams.values()] : [];
  const kept = keptSecrets(server).filter((value) => value.length >= PART);
  const all = [...values, ...queries, ...kept];
  const parts = all.flatMap((value) => value.split(/\s+/).filter((part) => part.length >= PART));
  // One that is a part of another would leave the rest of that one to be read.
  return [...all, ...parts].toSorted((one, other) => other.length - one.length);
}
