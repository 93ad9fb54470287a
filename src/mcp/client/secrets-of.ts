import { isAddress, type McpServer } from './mcp-servers.ts';

/** The shortest part of a value that is looked for by itself: `Bearer` in front of a token is no secret. */
const PART = 8;

/** What no message may repeat of how a server is reached: values of its variables or headers, and their parts. */
export function secretsOf(server: McpServer): string[] {
  const values = Object.values((isAddress(server) ? server.headers : server.env) ?? {});
  const queries = isAddress(server) ? [...new URL(server.url).searchParams.values()] : [];
  const all = [...values, ...queries];
  return [...all, ...all.flatMap((value) => value.split(/\s+/).filter((part) => part.length >= PART))];
}
