import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** A result that does not say of which kind it is, is complete (protocol of 2026-07-28). Servers leave that out, and the SDK refuses it then. */
export function withResultType(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result['resultType'] !== undefined) return message;
  return { ...message, result: { ...message.result, resultType: 'complete' } };
}

/** Has the listener of a transport of the SDK hear only of results with their type. */
export function completeResults(transport: Transport): void {
  let listener: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set(given: Transport['onmessage']) {
      listener = given && ((message, extra) => given(withResultType(message), extra));
    },
  });
}
