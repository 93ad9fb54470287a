import type { RequestId } from '@modelcontextprotocol/server';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { MessageRefused } from '../messages/read-message.ts';

/** The requests of one client that have no answer yet, by their ids. */
export interface RequestsUnderWay {
  /**
   * @returns a signal that aborts when the request is over
   * @throws {MessageRefused} if another request has its id: an answer or a cancellation could mean either of the two
   */
  begin(id: RequestId): AbortSignal;
  /** Frees an id, which the client may use again once it has the answer. @returns a function that ends the request */
  release(id: unknown): () => void;
  /** Ends all requests. */
  close(): void;
}

/** Starts without requests. */
export function createRequestsUnderWay(): RequestsUnderWay {
  const requests = new Map<unknown, AbortController>();
  return {
    begin(id) {
      if (requests.has(id)) {
        const reason = `another request with its id has no answer yet, got ${quotedText(String(id))}`;
        throw new MessageRefused(-32600, reason, { id });
      }
      const over = new AbortController();
      requests.set(id, over);
      return over.signal;
    },
    release(id) {
      const over = requests.get(id);
      requests.delete(id);
      return () => over?.abort();
    },
    close() {
      for (const over of requests.values()) over.abort();
      requests.clear();
    },
  };
}
