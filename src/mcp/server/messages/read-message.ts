import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId } from '@modelcontextprotocol/server';
import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';

/** Bytes of one message. */
export const MESSAGE_BYTES: number = 4 * 1024 * 1024;
/** Values in it: the size of a message in memory depends on them as much as on its bytes. */
const MESSAGE_VALUES = 100_000;

/** A message that is refused before its request is looked at. */
export class MessageRefused extends Error {
  override readonly name = 'MessageRefused';
  /** Error code of JSON-RPC: -32700 for invalid JSON, -32600 for JSON that is no message. */
  readonly code: -32700 | -32600;
  /** Id of the request, if it has one. */
  readonly id: RequestId | null;

  constructor(
    code: MessageRefused['code'],
    reason: string,
    { id = null, cause }: { id?: RequestId | null; cause?: unknown } = {},
  ) {
    super(`Cannot read the message: ${reason}.`, { cause });
    this.code = code;
    this.id = id;
  }
}

/** Reads one message from a client that is not trusted. @throws {MessageRefused} */
export function readMessage(bytes: Uint8Array): JSONRPCMessage {
  let value: unknown;
  try {
    value = parseBoundedJson(bytes, { maxBytes: MESSAGE_BYTES, maxValues: MESSAGE_VALUES });
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw new MessageRefused(-32700, error.message, { cause: error });
  }
  // Older revisions sent several at once; the limits count one request in each message.
  if (Array.isArray(value)) throw new MessageRefused(-32600, 'a batch is not accepted, send each message by itself');
  try {
    return parseJSONRPCMessage(value);
  } catch (error) {
    throw new MessageRefused(-32600, 'it is JSON, but no message of JSON-RPC 2.0', {
      id: requestIdOf(value),
      cause: error,
    });
  }
}

/** The id of a malformed request; null for other messages, since the id of an answer is from this server. */
function requestIdOf(value: unknown): RequestId | null {
  if (typeof value !== 'object' || value === null || !('method' in value) || !('id' in value)) return null;
  const { id } = value;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null;
}

/** The answer to a refused message. */
export function refusalAnswer({ code, message, id }: Pick<MessageRefused, 'code' | 'message' | 'id'>): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
