import { KEEPER_WINDOW } from '../../../../src/protocol/messages/session-messages.ts';
import type { SupervisorLink } from '../supervisor-link.ts';

/** An output of an operation. It sends at most a window of bytes that the supervisor has not passed on. */
export interface OutputPart {
  /** Resolves when all bytes are sent or dropped. One call at a time: a second one would take the room that the first waits for. */
  send(bytes: Uint8Array): Promise<void>;
  taken(bytes: number): void;
  /** Drops the bytes that wait, and all further ones. */
  drop(): void;
  readonly isDropped: boolean;
}

/** @param part number of the output on the link */
export function createOutputPart(link: SupervisorLink, part: number): OutputPart {
  let room = KEEPER_WINDOW;
  let isDropped = false;
  let wake = (): void => undefined;
  return {
    async send(bytes) {
      for (let offset = 0; offset < bytes.length && !isDropped;) {
        if (room === 0) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        const piece = bytes.subarray(offset, offset + room);
        room -= piece.length;
        offset += piece.length;
        link.sendBytes(part, piece);
      }
    },
    taken(bytes) {
      room += bytes;
      wake();
    },
    drop() {
      isDropped = true;
      wake();
    },
    get isDropped() {
      return isDropped;
    },
  };
}
