import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { McpServer } from '../../../mcp/client/mcp-servers.ts';
import { withSecrets } from '../../../mcp/client/server-secrets.ts';
import { quoted } from '../../terminal/usage-error.ts';

/**
 * `${NAME}`, and `${NAME:-DEFAULT}`, as other programs read them. The closing brace is optional: if it were required, each
 * unclosed beginning would search the rest of the text again.
 */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?(\}?)/g;

/**
 * Replaces variables in all texts of MCP servers, so that no file has to hold a key. Values from the environment are secrets of their server.
 *
 * @param given the servers of a file, not yet checked: an address can be checked only after its variables are replaced
 * @throws SkillcellError `mcp.invalid` for a variable that is not set and has no default
 */
export function expandVariables(given: unknown, environment: NodeJS.ProcessEnv): unknown {
  if (!isObject(given)) return given;
  const entries = Object.entries(given).map(([alias, server]) => {
    if (!isObject(server)) return [alias, server];
    const taken = new Set<string>();
    const expand = (value: unknown, field: string): unknown => {
      if (typeof value === 'string') return expandText(value, environment, { alias, field, taken });
      if (Array.isArray(value)) return value.map((part) => expand(part, field));
      if (!isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, expand(part, `${field}.${key}`)]));
    };
    // `type` is not expanded, as messages about it show its text.
    const { type, ...texts } = server;
    const fields = Object.entries(texts).map(([field, value]) => [field, expand(value, field)]);
    const expanded = { ...(type === undefined ? {} : { type }), ...Object.fromEntries(fields) } as McpServer;
    return [alias, withSecrets(expanded, [...taken])];
  });
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expandText(
  text: string,
  environment: NodeJS.ProcessEnv,
  { alias, field, taken }: { alias: string; field: string; taken: Set<string> },
): string {
  return text.replace(VARIABLE, (whole, name: string, otherwise: string | undefined, end: string) => {
    if (end === '') return whole;
    const value = environment[name];
    if (value !== undefined && value !== '') {
      taken.add(value);
      return value;
    }
    const found = otherwise ?? value;
    if (found !== undefined) return found;
    const message = `Cannot use the MCP server ${quoted(alias)}: ${field} needs a variable that is not set, got ${name}.`;
    throw new SkillcellError('mcp.invalid', message);
  });
}
