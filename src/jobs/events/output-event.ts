import type { OutputEvent } from '../../contracts/jobs/events.ts';
import { addPiece } from '../../protocol/channel/add-piece.ts';

/** Maximum bytes of an event with joined output. */
const MAX_JOINED_BYTES = 64 * 1024;
/** Number of texts that are joined at once: each join copies the text so far. */
const MAX_TEXTS = 1_024;

/** Waiting output of one stream that is read as one event. */
export interface JoinedOutput {
  /** @returns whether the event was added; false if the joined event would be too large */
  add(event: OutputEvent): boolean;
  event(): OutputEvent;
}

/** Makes an output event. Its bytes become base64 in JSON: a Buffer by itself becomes a list of numbers. */
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

/** Begins joined output with its first event. */
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
