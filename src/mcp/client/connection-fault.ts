import { plainMessage } from '../../tools/define/outside-text.ts';
import { ToolCallError } from '../../tools/define/tool-errors.ts';
import { LOST_ANSWER } from './transport/http-transport.ts';
import type { LoadedSdk } from './transport/load-sdk.ts';
import type { McpTransport } from './transport/mcp-transport.ts';
import { TransportFault } from './transport/transport-fault.ts';

/** The context of a fault. */
export interface FaultScene {
  alias: string;
  sdk: LoadedSdk;
  transport: McpTransport;
  /** Values that no message may hold. */
  secrets: readonly string[];
  /** Whether the call is a repeat that its server asked for. @default false */
  isRepeated?: boolean;
}

/** Reasons why a server cannot be reached, by error code. Other texts of the network may name addresses and paths. */
const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not listen at its address',
  ECONNRESET: 'broke off the connection',
  EACCES: 'may not be started by this user',
  ENOENT: 'has a working folder that is not there',
  ENOTDIR: 'has a working folder that is not a folder',
  ENOTFOUND: 'has a host name that is not known',
  EAI_AGAIN: 'has a host name that is not known',
  UND_ERR_SOCKET: 'broke off the connection',
};
/** Codes of faults before any part of the call has left this process. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** The fault of the connection to a server, in words that follow "the MCP server crm". */
export function faultWords(error: unknown, { sdk, transport, secrets }: FaultScene): string {
  const fault = transport.fault ?? (error instanceof TransportFault ? error.message : undefined);
  if (fault !== undefined) return plainMessage(fault, secrets);
  if (error instanceof sdk.SdkHttpError) return `answers with the HTTP status ${error.status}`;
  const code = networkCode(error, sdk);
  if (code !== undefined) return NETWORK[code] ?? `cannot be reached (${code})`;
  if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.RequestTimeout) return 'gave no answer in time';
  if (error instanceof sdk.ProtocolError) return `refused: ${plainMessage(error.message, secrets)}`;
  if (isBlockedPort(error)) return 'has a port in its url that is never asked, since it belongs to another protocol';
  return 'does not answer as the protocol says';
}

/**
 * The error of a call without a result, as the program reads it. A call with an unknown effect is not repeated.
 */
export function callError(error: unknown, scene: FaultScene): unknown {
  const { alias, sdk, transport, secrets, isRepeated = false } = scene;
  const failed = (code: 'mcp.unavailable' | 'tool.invalid-result', words: string, effect?: 'unknown'): ToolCallError =>
    new ToolCallError(code, `The MCP server ${alias} ${words}.`, effect === undefined ? {} : { effect });
  if (transport.fault !== undefined) return failed('mcp.unavailable', faultWords(error, scene), 'unknown');
  if (error instanceof sdk.ProtocolError) {
    if (error.data === LOST_ANSWER) return failed('mcp.unavailable', 'broke off its answer', 'unknown');
    return new ToolCallError('tool.failed', plainMessage(error.message.replaceAll(/\s+/g, ' '), secrets));
  }
  const code = error instanceof sdk.SdkError ? error.code : undefined;
  if (code === sdk.SdkErrorCode.UnsupportedResultType)
    return new ToolCallError(
      'tool.failed',
      `The MCP server ${alias} asked for more input, which is not supported here.`,
    );
  if (code === sdk.SdkErrorCode.InvalidResult)
    return failed('tool.invalid-result', 'gave a result that the protocol does not allow', 'unknown');
  const isUnsent = !isRepeated && UNSENT.includes(networkCode(error, sdk) ?? '');
  return failed('mcp.unavailable', faultWords(error, scene), isUnsent ? undefined : 'unknown');
}

/** Ports that fetch refuses have no error code, only this message. */
function isBlockedPort(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof TypeError && (at.cause as Error | undefined)?.message === 'bad port') return true;
  return false;
}

/** The error code of the system or the network; undefined for other errors. */
export function networkCode(error: unknown, sdk: LoadedSdk): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    // Errors of the SDK have codes of their own.
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string' && !(at instanceof sdk.SdkError)) return code;
  }
  return undefined;
}
