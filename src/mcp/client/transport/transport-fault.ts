import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';

/** Bytes of one message: the largest result of a tool, as base64, and some JSON around it. */
export const MESSAGE_BYTES: number = 12 * 1024 * 1024;
/** Bytes that a server may send between two answers, such as its log and its progress. */
export const UNASKED_BYTES: number = 16 * 1024 * 1024;
/** Caps of each message. A list of a thousand tools with long schemas stays below. */
const MESSAGE_CAPS = { maxBytes: MESSAGE_BYTES, maxDepth: 100, maxValues: 200_000 };

/** A fault of a server that ends its connection, in words that follow "the MCP server crm". */
export class TransportFault extends Error {
  override readonly name = 'TransportFault';
}

/** The fault of a message that is too long. */
export function tooLong(): TransportFault {
  return new TransportFault(`sent a message of more than ${MESSAGE_BYTES} bytes`);
}

/** @throws TransportFault */
export function refuseLongLine(): never {
  throw tooLong();
}

/** The fault of too many bytes without an answer. */
export function tooMuch(): TransportFault {
  return new TransportFault(`sent more than ${UNASKED_BYTES} bytes without an answer`);
}

/**
 * Parses the bytes of a server. The cost is bounded before they are known to be a message.
 *
 * @throws TransportFault
 */
export function parseMessage(bytes: Uint8Array): unknown {
  try {
    return parseBoundedJson(bytes, MESSAGE_CAPS);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    // The text of a parser may repeat a part of the message.
    const isParsers = error.cause instanceof SyntaxError;
    const reason = isParsers ? 'no valid JSON, or a key that is not allowed' : error.message;
    throw new TransportFault(`sent a message that is refused: ${reason}`, { cause: error });
  }
}

/** Classifies a message. Notifications, such as progress and logs, are of no use here. */
export function kindOf(message: unknown): 'answer' | 'request' | 'other' {
  if (typeof message !== 'object' || message === null || !('id' in message)) return 'other';
  return 'result' in message || 'error' in message ? 'answer' : 'request';
}
