import type { RequestId } from '@modelcontextprotocol/server';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { MessageRefused } from '../messages/read-message.ts';

/** The requests of one client that have no answer yet, by their ids. */
export interface RequestsUnderWay {
  /**
   * @returns a signal that aborts when the request is over
   * @throws {MessageRefused} where another one has its id: what answers or cancels would not say which of the two it means
   */
  begin(id: RequestId): AbortSignal;
  /** Gives an id free, of which the client may make use as soon as it has the answer. @returns how to end the request */
  release(id: unknown): () => void;
  /** Ends all of them. */
  close(): void;
}

/** Starts with none. */
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
