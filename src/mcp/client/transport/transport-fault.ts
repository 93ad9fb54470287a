import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';

/** Bytes of one message: what a tool may give, as base64, and some JSON around it. */
export const MESSAGE_BYTES: number = 12 * 1024 * 1024;
/** Bytes that a server may send between two answers, such as its log and its progress. */
export const UNASKED_BYTES: number = 16 * 1024 * 1024;
/** Of each message. A list of a thousand tools with long schemas has fewer. */
const MESSAGE_CAPS = { maxBytes: MESSAGE_BYTES, maxDepth: 100, maxValues: 200_000 };

/** What a server did that ends its connection, in words that follow "the MCP server crm". */
export class TransportFault extends Error {
  override readonly name = 'TransportFault';
}

/** Too many bytes without an end. */
export function tooLong(): TransportFault {
  return new TransportFault(`sent a message of more than ${MESSAGE_BYTES} bytes`);
}

/** Too much that nobody had asked for. */
export function tooMuch(): TransportFault {
  return new TransportFault(`sent more than ${UNASKED_BYTES} bytes without an answer`);
}

/**
 * Parses a message of a server, whose cost is bounded before it is known to be one.
 *
 * @throws TransportFault
 */
export function parseMessage(bytes: Uint8Array): unknown {
  try {
    return parseBoundedJson(bytes, MESSAGE_CAPS);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    // What a parser says may repeat what stands in the message.
    const isParsers = error.cause instanceof SyntaxError;
    const reason = isParsers ? 'no valid JSON, or a key that is not allowed' : error.message;
    throw new TransportFault(`sent a message that is refused: ${reason}`, { cause: error });
  }
}

/** What a message is to us: notifications, such as of progress and of a log, say nothing that is of use here. */
export function kindOf(message: unknown): 'answer' | 'request' | 'other' {
  if (typeof message !== 'object' || message === null || !('id' in message)) return 'other';
  return 'result' in message || 'error' in message ? 'answer' : 'request';
}
