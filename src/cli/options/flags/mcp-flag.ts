import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { McpServers } from '../../../mcp/client/mcp-servers.ts';
import type { McpTools } from '../../../mcp/client/connect-mcp-tools.ts';
import { readInputFile } from '../../terminal/input-file.ts';
import { parseSecretJson } from '../../terminal/parse-secret-json.ts';
import { quoted } from '../../terminal/usage-error.ts';
import { type CommandContext, flagValue } from './command.ts';

const FILE_BYTES = 1024 * 1024;
/** Names of the file's only field, in the programs that write such files. */
const FIELDS = ['mcpServers', 'servers'];

/**
 * The MCP servers that `--mcp FILE` names, with `${NAME}` in their texts replaced; undefined without the flag.
 *
 * @throws SkillcellError `mcp.invalid`, naming the field but never its text, or `file.unreadable`
 */
export async function mcpServersFromFlag({ arguments: given, io }: CommandContext): Promise<McpServers | undefined> {
  const path = flagValue(given, 'mcp');
  if (path === undefined) return undefined;
  const bytes = readInputFile('--mcp', path, FILE_BYTES, io);
  const file = parseSecretJson(bytes, FILE_BYTES, (reason) => invalid(reason, path));
  const names = typeof file === 'object' && file !== null && !Array.isArray(file) ? Object.keys(file) : [];
  const [name = ''] = names;
  if (names.length !== 1 || !FIELDS.includes(name)) {
    const other = names.find((each) => !FIELDS.includes(each));
    const found = other === undefined ? '' : `; there is no field ${quoted(other)}`;
    throw invalid(`it must hold an object with the field mcpServers, or servers, and no other${found}`, path);
  }
  // Loaded only here: a job without the flag loads nothing of MCP.
  const { expandVariables } = await import('./expand-variables.ts');
  const { checkMcpServers } = await import('../../../mcp/client/mcp-servers.ts');
  return checkMcpServers(expandVariables((file as Record<string, unknown>)[name], io.env));
}

/**
 * The tools of the MCP servers that `--mcp FILE` names; none without the flag. Parts that were left out are noted on stderr.
 *
 * @param servers the result of an earlier `mcpServersFromFlag`
 * @throws SkillcellError as `mcpServersFromFlag` and `connectMcpTools`
 */
export async function mcpToolsFromFlag(
  context: CommandContext,
  servers?: McpServers,
): Promise<Pick<McpTools, 'tools' | 'close'> & AsyncDisposable> {
  const named = servers ?? (await mcpServersFromFlag(context));
  if (named === undefined) return { tools: [], close: nothing, [Symbol.asyncDispose]: nothing };
  const { connectMcpTools } = await import('../../../mcp/client/connect-mcp-tools.ts');
  const mcp = await connectMcpTools(named, { signal: context.interruption.signal });
  for (const { message } of mcp.notes) await context.output.note(message);
  return mcp;
}

async function nothing(): Promise<void> {}

function invalid(reason: string, path: string): SkillcellError {
  return new SkillcellError('mcp.invalid', `Cannot use --mcp: ${reason}, got ${quoted(path)}.`);
}
