import type { IncomingMessage } from 'node:http';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { addPiece } from '../../protocol/add-piece.ts';
import { HttpRefused } from './http-refusal.ts';
import { MESSAGE_BYTES, MessageRefused, readMessage } from './read-message.ts';

/** Bytes of bodies that are being read, of all requests together. */
const MOST_BYTES: number = 16 * 1024 * 1024;

/** Reads the message of a request. @throws {HttpRefused} */
export type ReadBody = (request: IncomingMessage) => Promise<JSONRPCMessage>;

/** Creates a reader that holds so many bytes at most, whoever sends how many. */
export function createBodyReader(): ReadBody {
  let held = 0;
  return async (request) => {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of request) {
        const bytes = part as Buffer;
        size += bytes.length;
        held += bytes.length;
        if (size > MESSAGE_BYTES) throw new HttpRefused(413, `a message may have ${MESSAGE_BYTES} bytes`);
        if (held > MOST_BYTES) throw new HttpRefused(503, 'other requests take all the room', RETRY);
        addPiece(parts, bytes);
      }
      return readMessage(Buffer.concat(parts));
    } catch (error) {
      if (!(error instanceof MessageRefused)) throw error;
      const { code, id } = error;
      throw new HttpRefused(400, reasonOf(error), { code, id });
    } finally {
      held -= size;
    }
  };
}

/** Room comes back soon. */
export const RETRY = { headers: { 'retry-after': '1' } } as const;

function reasonOf({ message }: MessageRefused): string {
  return message.replace(/^Cannot read the message: /, '').replace(/\.$/, '');
}
