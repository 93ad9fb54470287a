import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/**
 * Adds the type `complete` to a result without one. The protocol of 2026-07-28 defines this default; servers omit the type, and the SDK rejects
 * such results.
 */
export function withResultType(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result['resultType'] !== undefined) return message;
  return { ...message, result: { ...message.result, resultType: 'complete' } };
}

/** Makes the listener of an SDK transport receive results with their type. */
export function completeResults(transport: Transport): void {
  let listener: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set(given: Transport['onmessage']) {
      listener = given && ((message, extra) => given(withResultType(message), extra));
    },
  });
}
