import type { OutputEvent } from '../../contracts/jobs/events.ts';
import { addPiece } from '../../protocol/channel/add-piece.ts';

/** Joined output makes no event larger than this. */
const MAX_JOINED_BYTES = 64 * 1024;
/** Texts that are kept apart until they are made one; each joining copies what is there. */
const MAX_TEXTS = 1_024;

/** Output of one stream that waits for its reader as one event. */
export interface JoinedOutput {
  /** Returns whether it took the event: false when both together would be too large for one. */
  add(event: OutputEvent): boolean;
  event(): OutputEvent;
}

/** In JSON the bytes are base64: a Buffer's own form is a list of numbers. */
export function outputEvent(
  jobId: string,
  stream: OutputEvent['stream'],
  bytes: Uint8Array,
  text: string,
): OutputEvent {
  const event: OutputEvent = { type: 'output', jobId, stream, bytes, text };
  const toJSON = (): object => ({ ...event, bytes: Buffer.from(bytes).toString('base64') });
  return Object.defineProperty(event, 'toJSON', { value: toJSON });
}

/** Begins output that later events of its stream may be joined to. */
export function joinOutput(first: OutputEvent): JoinedOutput {
  const pieces = [Buffer.from(first.bytes)];
  let texts = [first.text];
  let size = first.bytes.length;
  return {
    add({ bytes, text }) {
      if (size + bytes.length > MAX_JOINED_BYTES) return false;
      size += bytes.length;
      addPiece(pieces, Buffer.from(bytes));
      texts.push(text);
      if (texts.length > MAX_TEXTS) texts = [texts.join('')];
      return true;
    },
    event: () => outputEvent(first.jobId, first.stream, Buffer.concat(pieces), texts.join('')),
  };
}
