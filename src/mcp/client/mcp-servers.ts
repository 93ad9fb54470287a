import * as z from 'zod/mini';
import { isPlainObject } from '../../tools/schema/is-plain-object.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** An MCP server that is a program of this machine and speaks over its standard streams. */
export interface McpProgram {
  readonly type?: 'stdio';
  /** A path, or a name that is looked for in `PATH`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables beside `HOME`, `LANG`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR` and `USER`; the program gets no others of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** @default the working folder of this process */
  readonly cwd?: string;
}

/** An MCP server that is reached by streamable HTTP. */
export interface McpAddress {
  readonly type?: 'http' | 'streamable-http';
  readonly url: string;
  /** Sent with each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Program or address of an MCP server. */
export type McpServer = McpProgram | McpAddress;

/** MCP servers by their aliases, with which the ids of their tools begin. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** Whether a server is reached by HTTP. */
export function isAddress(server: McpServer): server is McpAddress {
  return 'url' in server;
}

const ALIAS = /^[A-Za-z_][\w-]{0,63}$/;
/** The alias of the orchestrator's own tools. */
const KEPT_ALIAS = 'skills';

const texts = z.custom(
  (value) => isPlainObject(value) && Object.values(value).every((part) => typeof part === 'string'),
  'must be an object whose values are texts',
);
const textList = z.custom(
  (value) => Array.isArray(value) && value.every((part) => typeof part === 'string'),
  'must be a list of texts',
);
const text = z.string().check(z.minLength(1));

const programFields = {
  type: z.optional(z.literal('stdio')),
  command: text,
  args: z.optional(textList),
  env: z.optional(texts),
  cwd: z.optional(text),
};
const addressFields = {
  type: z.optional(z.enum(['http', 'streamable-http'])),
  url: text,
  headers: z.optional(texts),
};

/**
 * Checks the MCP servers of a caller or a file. Messages name fields, but never their text, which may be a key.
 *
 * @throws SkillcellError `mcp.invalid`, naming server and field
 */
export function checkMcpServers(given: unknown): McpServers {
  if (!isPlainObject(given)) throw invalid('connect MCP servers', 'they must be an object, by their aliases');
  for (const [alias, server] of Object.entries(given)) {
    const action = `use the MCP server ${quotedText(alias)}`;
    if (!ALIAS.test(alias) || alias === KEPT_ALIAS)
      throw invalid(
        action,
        `its alias must be up to 64 letters, digits, _ and -, begin with a letter or _, and not be ${KEPT_ALIAS}`,
      );
    checkServer(server, action);
  }
  return given as McpServers;
}

function checkServer(server: unknown, action: string): void {
  if (!isPlainObject(server)) throw invalid(action, 'it must be an object with command or url');
  if ('command' in server === 'url' in server)
    throw invalid(action, 'it must have either command or url, and not both');
  const fields = 'url' in server ? addressFields : programFields;
  checkOptions(z.strictObject(fields), withoutTexts(server, fields), { action, whole: 'it', code: 'mcp.invalid' });
  const fault = 'url' in server ? addressFault(server as unknown as McpAddress) : programFault(server as never);
  if (fault !== undefined) throw invalid(action, fault);
}

/** A copy for messages, which show values. No check of a field depends on its text. */
function withoutTexts(server: Record<string, unknown>, fields: object): Record<string, unknown> {
  const entries = Object.entries(server).map(([name, value]) => {
    const isShown = name === 'type' || value === '' || typeof value === 'object' || value === undefined;
    const isKnown = Object.hasOwn(fields, name) && typeof value !== 'string';
    return [name, isShown || isKnown ? value : '…'];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function addressFault({ url, headers }: McpAddress): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return 'url must be an address that begins with http:// or https://';
  if (parsed.username !== '' || parsed.password !== '')
    return 'url must not hold a user name or a password: headers are for those';
  try {
    void new Headers(headers);
    return undefined;
  } catch {
    // The message of this error repeats the value.
    return 'headers must have names and values that HTTP allows';
  }
}

function programFault({ command, args = [], env = {}, cwd = '' }: McpProgram): string | undefined {
  if (Object.keys(env).some((name) => name === '' || name.includes('=')))
    return 'env must have names without = that are not empty';
  const all = { command: [command], args, env: Object.entries(env).flat(), cwd: [cwd] };
  const field = Object.entries(all).find(([, parts]) => parts.some((part) => part.includes('\0')))?.[0];
  return field === undefined ? undefined : `${field} must not hold the character 0`;
}

function invalid(action: string, reason: string): SkillcellError {
  return new SkillcellError('mcp.invalid', `Cannot ${action}: ${reason}.`);
}
