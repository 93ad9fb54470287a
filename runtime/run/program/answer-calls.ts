import type { ToolCallCode } from '../../../src/contracts/errors/tool-call-codes.ts';
import { JsonRefused, parseBoundedJson } from '../../../src/protocol/channel/bounded-json.ts';
import { CALL_BYTES_UNDER_WAY, CALLS_UNDER_WAY, MAX_CALL_BYTES } from '../../../src/protocol/calls-under-way.ts';
import type { StreamWriter } from '../../../src/protocol/channel/channel.ts';
import type { StreamedBytes } from '../../../src/protocol/messages/messages.ts';
import {
  hasName,
  packAnswer,
  placesOf,
  readCall,
  renumbered,
  type PackedCall,
} from '../../../src/protocol/channel/packed-call.ts';
import { MAX_PARTS, type BytesPlace } from '../../../src/protocol/messages/value-bytes.ts';
import type { CallPort } from '../call-port.ts';
import type { ExecutorLink } from './executor-link.ts';

const MAX_NAME = 200;
const MAX_PLACES_BYTES = 256 * 1024;
/** The broker takes less. These limits keep the channel from carrying messages that would end it. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Takes the bytes of a refused call. */
export const DROPPED: StreamWriter = { number: 0, write: async () => undefined, end: () => undefined };

interface Part {
  writer: StreamWriter;
  left: number;
}

/** The parts of the link that the calls of a program need. */
export type AnswerLink = Pick<ExecutorLink, 'hold' | 'release' | 'sendBytes' | 'sendPacked'>;

/** The calls of one program. */
export interface CallAnswers {
  /** Takes a call. @throws {FrameError} if its form is unknown */
  take(bytes: Buffer): void;
  /** Takes bytes that a call has announced. */
  takeBytes(part: number, chunk: Buffer): void;
  close(): void;
}

/** Options of {@link answerCalls}. */
export interface CallLimit {
  /** Number of refusals before the run ends. Each refusal costs an answer that a program may never read. */
  refusals: number;
  onExhausted(): void;
  /** Called for bytes that no call has announced. */
  onFault(): void;
}

/**
 * Relays the calls of one program to the broker, and the answers back, with their bytes. User code may call tools, but not a model. Ids must rise, so
 * that a replayed call is refused.
 */
export function answerCalls(port: CallPort, link: AnswerLink, limit: CallLimit): CallAnswers {
  /** Announced bytes that have not arrived, by the number that the program gave them. */
  const parts = new Map<number, Part>();
  let lastId = 0;
  let underWay = 0;
  let bytesUnderWay = 0;
  let refused = 0;
  let open = true;

  /** When full, further calls wait in the program's own pipe. */
  const isFull = (): boolean => underWay >= CALLS_UNDER_WAY || bytesUnderWay > CALL_BYTES_UNDER_WAY - MAX_CALL_BYTES;
  const expect = (places: readonly NumberedPlace[], writers: readonly StreamWriter[]): void => {
    places.forEach(({ stream, bytes }, index) => {
      const writer = writers[index] ?? DROPPED;
      if (bytes === 0) writer.end();
      else parts.set(stream, { writer, left: bytes });
    });
  };

  const refuse = (id: number, places: readonly NumberedPlace[], code: ToolCallCode, message: string): void => {
    refused += 1;
    expect(places, []);
    if (refused > limit.refusals) return limit.onExhausted();
    const error = { code, message: `Cannot call: ${message}.` };
    link.sendPacked(packAnswer(id, false, { json: JSON.stringify(error) }));
  };

  const relay = (call: PackedCall, places: readonly NumberedPlace[]): void => {
    const { id } = call;
    const total = totalBytes(places);
    underWay += 1;
    bytesUnderWay += total;
    if (isFull()) link.hold('calls');
    const writers = port.relay({
      call,
      places: places.map(({ path, bytes }) => ({ path, bytes })),
      onAnswer(answer) {
        underWay -= 1;
        bytesUnderWay -= total;
        if (!open) return;
        link.sendPacked(renumbered(answer, id));
        if (!isFull()) link.release('calls');
      },
      reader: (stream) => ({
        data: (chunk) => (open ? link.sendBytes(stream, chunk) : undefined),
        end: () => undefined,
      }),
    });
    expect(places, writers);
  };

  return {
    take(bytes) {
      if (!open) return;
      const call = readCall(bytes);
      const { id, target } = call;
      const places = readPlaces(placesOf(call));
      // The bytes that follow could no longer be told apart.
      if (places === undefined || places.some(({ stream }) => parts.has(stream)) || repeats(places))
        return limit.onFault();
      if (id <= lastId) return refuse(id, places, 'tool.invalid-arguments', 'its id is not higher than the ids before');
      lastId = id;
      if (target !== 'tool') return refuse(id, places, 'tool.not-allowed', 'programs may call tools only');
      if (!hasName(call, MAX_NAME)) return refuse(id, places, 'tool.not-allowed', 'it has no valid tool name');
      if (bytes.length > MAX_MESSAGE_BYTES) return refuse(id, places, 'tool.too-large', 'its arguments are too large');
      relay(call, places);
    },
    takeBytes(number, chunk) {
      const part = parts.get(number);
      if (!open) return;
      if (part === undefined || chunk.length > part.left) return limit.onFault();
      part.left -= chunk.length;
      if (part.left === 0) parts.delete(number);
      link.hold('bytes');
      void part.writer.write(chunk).then(() => {
        if (part.left === 0) part.writer.end();
        link.release('bytes');
      });
    },
    close() {
      open = false;
      for (const { writer } of parts.values()) writer.end();
      parts.clear();
      // The messages of the program after its last call are still read.
      for (const reason of ['calls', 'answers', 'bytes'] as const) link.release(reason);
    },
  };
}

/** `stream` is the number that the program gave the part. */
type NumberedPlace = StreamedBytes;

/** The parts that a call announces; undefined if the list is invalid, or has more parts than allowed. */
function readPlaces(json: Uint8Array | undefined): NumberedPlace[] | undefined {
  if (json === undefined) return [];
  const given = parsedOr(json);
  if (!Array.isArray(given) || given.length > MAX_PARTS) return undefined;
  const places = given as Partial<NumberedPlace>[];
  const isWhole = places.every(
    (place) =>
      typeof place === 'object' &&
      place !== null &&
      isCount(place.bytes) &&
      isCount(place.stream) &&
      isPath(place.path),
  );
  return isWhole && totalBytes(places as NumberedPlace[]) <= MAX_CALL_BYTES ? (places as NumberedPlace[]) : undefined;
}

function repeats(places: readonly NumberedPlace[]): boolean {
  return new Set(places.map(({ stream }) => stream)).size < places.length;
}

function parsedOr(json: Uint8Array): unknown {
  try {
    return parseBoundedJson(json, { maxBytes: MAX_PLACES_BYTES });
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    return undefined;
  }
}

function totalBytes(places: readonly BytesPlace[]): number {
  return places.reduce((sum, { bytes }) => sum + bytes, 0);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
}

function isPath(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 64 && value.every((key) => typeof key === 'string' || isCount(key));
}
