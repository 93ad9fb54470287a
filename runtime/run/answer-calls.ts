import type { ToolCallCode } from '../../src/contracts/tool-call-codes.ts';
import type { StreamWriter } from '../../src/protocol/channel.ts';
import { MAX_PARTS, type BytesPlace } from '../../src/protocol/value-bytes.ts';
import type { CallPort } from './call-port.ts';
import type { ExecutorLink, ExecutorMessage } from './executor-link.ts';

/** Calls that one program may have under way; more wait in its own pipe. */
const MAX_UNDER_WAY = 64;
const MAX_NAME = 200;
/** What the broker takes is less; these keep the channel from carrying what would end it. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_BYTES = 8 * 1024 * 1024;
/** Bytes of arguments that one program may have under way; more wait in its own pipe. */
const MAX_BYTES_UNDER_WAY = 32 * 1024 * 1024;
/** Where the bytes of a refused call go. */
const DROPPED: StreamWriter = { number: 0, write: async () => undefined, end: () => undefined };

interface Part {
  writer: StreamWriter;
  left: number;
}

/** The calls of one program. */
export interface CallAnswers {
  take(message: ExecutorMessage & { type: 'call' }): void;
  /** Takes bytes that a call has named. */
  takeBytes(part: number, chunk: Buffer): void;
  close(): void;
}

/** Options of {@link answerCalls}. */
export interface CallLimit {
  /** Calls that are refused here before the run ends: each costs an answer that a program may never read. */
  refusals: number;
  onExhausted(): void;
  /** Told of bytes that no call has named. */
  onFault(): void;
}

/**
 * Passes the calls of one program on to the broker, and the answers back, with their bytes. User code may call tools, never a
 * model directly. Ids must rise, so that a replayed one is refused.
 */
export function answerCalls(port: CallPort, link: ExecutorLink, limit: CallLimit): CallAnswers {
  /** Bytes that are still to come, by the number that the program gave them. */
  const parts = new Map<number, Part>();
  let lastId = 0;
  let underWay = 0;
  let bytesUnderWay = 0;
  let refused = 0;
  let open = true;

  const isFull = (): boolean => underWay >= MAX_UNDER_WAY || bytesUnderWay > MAX_BYTES_UNDER_WAY - MAX_BYTES;
  const expect = (places: readonly NumberedPlace[], writers: readonly StreamWriter[]): void => {
    places.forEach(({ part, bytes }, index) => {
      const writer = writers[index] ?? DROPPED;
      if (bytes === 0) writer.end();
      else parts.set(part, { writer, left: bytes });
    });
  };

  const refuse = (id: unknown, places: readonly NumberedPlace[], code: ToolCallCode, message: string): void => {
    refused += 1;
    expect(places, []);
    if (refused > limit.refusals) return limit.onExhausted();
    const error = { code, message: `Cannot call: ${message}.` };
    link.send({ type: 'reply', id: typeof id === 'number' ? id : 0, ok: false, error });
  };

  const relay = (id: number, name: string, args: unknown, places: readonly NumberedPlace[]): void => {
    const total = totalBytes(places);
    underWay += 1;
    bytesUnderWay += total;
    if (isFull()) link.hold('calls');
    const writers = port.relay({
      name,
      args,
      places: places.map(({ path, bytes }) => ({ path, bytes })),
      onReply(reply) {
        underWay -= 1;
        bytesUnderWay -= total;
        if (!open) return;
        const { bytes, ...rest } = { bytes: undefined, ...reply };
        const streamed = bytes?.map(({ path, bytes: size, stream }) => ({ path, bytes: size, part: stream }));
        link.send({ type: 'reply', id, ...rest, ...(streamed === undefined ? {} : { bytes: streamed }) });
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
    take({ id, target, name, args, bytes, size }) {
      if (!open) return;
      const places = readPlaces(bytes);
      // What follows could not be told apart any more.
      if (places === undefined || places.some(({ part }) => parts.has(part)) || repeats(places)) return limit.onFault();
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= lastId)
        return refuse(id, places, 'tool.invalid-arguments', 'its id is no new number');
      lastId = id;
      if (target !== 'tool') return refuse(id, places, 'tool.not-allowed', 'programs may call tools only');
      if (typeof name !== 'string' || name === '' || name.length > MAX_NAME)
        return refuse(id, places, 'tool.not-allowed', 'it names no tool');
      if (size > MAX_MESSAGE_BYTES) return refuse(id, places, 'tool.too-large', 'its arguments are too large');
      relay(id, name, args, places);
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
      // What the program said after its last call is still heard.
      for (const reason of ['calls', 'answers', 'bytes'] as const) link.release(reason);
    },
  };
}

type NumberedPlace = BytesPlace & { part: number };

/** The parts that a call announces; undefined where they are no such list, or more than a call may have. */
function readPlaces(given: unknown): NumberedPlace[] | undefined {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > MAX_PARTS) return undefined;
  const places = given as Partial<NumberedPlace>[];
  const isWhole = places.every(
    (place) =>
      typeof place === 'object' && place !== null && isCount(place.bytes) && isCount(place.part) && isPath(place.path),
  );
  return isWhole && totalBytes(places as NumberedPlace[]) <= MAX_BYTES ? (places as NumberedPlace[]) : undefined;
}

function repeats(places: readonly NumberedPlace[]): boolean {
  return new Set(places.map(({ part }) => part)).size < places.length;
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
