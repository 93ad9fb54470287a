import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { quoted } from '../terminal/usage-error.ts';

/** `${NAME}`, and `${NAME:-what else}`, as other programs that read such files know it. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Replaces variables in all texts of MCP servers, so that no file has to hold a key.
 *
 * @param given what a file says of servers, which nobody has checked: whether a text is an address shows when it is whole
 * @throws SkillcellError `mcp.invalid` for a variable that is not set and has no default
 */
export function expandVariables(given: unknown, environment: NodeJS.ProcessEnv): unknown {
  if (!isObject(given)) return given;
  const entries = Object.entries(given).map(([alias, server]) => {
    if (!isObject(server)) return [alias, server];
    const expand = (value: unknown, field: string): unknown => {
      if (typeof value === 'string') return expandText(value, environment, { alias, field });
      if (Array.isArray(value)) return value.map((part) => expand(part, field));
      if (!isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, expand(part, `${field}.${key}`)]));
    };
    // A message about its type shows what stands there.
    const { type, ...texts } = server;
    const fields = Object.entries(texts).map(([field, value]) => [field, expand(value, field)]);
    return [alias, { ...(type === undefined ? {} : { type }), ...Object.fromEntries(fields) }];
  });
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
