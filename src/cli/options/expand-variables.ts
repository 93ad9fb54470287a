import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { McpServer, McpServers } from '../../mcp/client/mcp-servers.ts';
import { quoted } from '../terminal/usage-error.ts';

/** `${NAME}`, and `${NAME:-what else}`, as other programs that read such files know it. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Replaces variables in all texts of MCP servers, so that no file has to hold a key.
 *
 * @throws SkillcellError `mcp.invalid` for a variable that is not set and has no default
 */
export function expandVariables(servers: McpServers, environment: NodeJS.ProcessEnv): McpServers {
  const entries = Object.entries(servers).map(([alias, server]) => {
    const expand = (value: unknown, field: string): unknown => {
      if (typeof value === 'string') return expandText(value, environment, { alias, field });
      if (Array.isArray(value)) return value.map((part) => expand(part, field));
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, expand(part, `${field}.${key}`)]));
    };
    const fields = Object.entries(server).map(([field, value]) => [field, expand(value, field)]);
    return [alias, Object.fromEntries(fields) as McpServer];
  });
  return Object.fromEntries(entries) as McpServers;
}

function expandText(text: string, environment: NodeJS.ProcessEnv, place: { alias: string; field: string }): string {
  return text.replace(VARIABLE, (_whole, name: string, otherwise?: string) => {
    const value = environment[name];
    const found = value === undefined || value === '' ? (otherwise ?? value) : value;
    if (found !== undefined) return found;
    const { alias, field } = place;
    const message = `Cannot use the MCP server ${quoted(alias)}: ${field} needs a variable that is not set, got ${name}.`;
    throw new SkillcellError('mcp.invalid', message);
  });
}
