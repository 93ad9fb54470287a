import { Buffer } from 'node:buffer';
import { CALL_BYTES_UNDER_WAY, CALLS_UNDER_WAY, MAX_CALL_BYTES } from '../../../src/protocol/calls-under-way.ts';
import type { CallError, StreamedBytes } from '../../../src/protocol/messages/messages.ts';
import { jsonOf, packCall, placesOf, readAnswer, type CallTarget } from '../../../src/protocol/channel/packed-call.ts';
import {
  attachBytes,
  detachBytes,
  ValueFault,
  type DetachedValue,
} from '../../../src/protocol/messages/value-bytes.ts';
import type { SupervisorLink } from './supervisor-link.ts';

/** No tool has a longer name. */
const NAME_CHARACTERS = 1_000;
/** The broker's caps, checked here so that no bytes of a refused call are sent. */
const ARGUMENT_CAPS = { jsonBytes: 256 * 1024, partBytes: MAX_CALL_BYTES };
/**
 * Most calls under way; further calls wait here. It is below the point at which the supervisor stops reading: this thread takes no answers while it
 * writes, so with more calls both would wait for each other.
 */
const MOST_CALLS = CALLS_UNDER_WAY - 1;
const MOST_BYTES = CALL_BYTES_UNDER_WAY - MAX_CALL_BYTES;
/** More calls may be under way as long as all of them fit into the pipe, which holds 64 KiB. */
const PIPED_BYTES = 48 * 1024;
/** Room for the rest of a call around its name and JSON. */
const HEAD_BYTES = 32;

/** Sizes in bytes: of the message, and of the parts that follow it. */
interface CallSize {
  message: number;
  parts: number;
}

const CLOSED: CallError = {
  code: 'tool.job-over',
  message: 'Cannot make the call: the link to the host is closed. A program must leave the descriptors 62 and 63 open.',
};

interface CallEnd {
  value?: unknown;
  error?: CallError;
}

/** A call that returned no value. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The calls of the program. */
export interface ProgramCalls {
  call(target: CallTarget, name: string, given: unknown): Promise<unknown>;
  settle(answer: Buffer): void;
  takeBytes(part: number, chunk: Buffer): void;
  /** Fails all calls that are under way, and all later calls: the link is closed. */
  close(): void;
}

/** Makes calls over a link. */
export function createProgramCalls(link: SupervisorLink): ProgramCalls {
  const pending = new Map<number, (end: CallEnd) => void>();
  /** Bytes of incomplete answers. */
  const arriving = new Map<number, { bytes: Uint8Array; filled: number; whole(): void }>();
  let lastCall = 0;
  let lastPart = 0;
  const underWay = { calls: 0, message: 0, parts: 0 };
  let closed = false;
  /** Unsent calls, in order. */
  const queue: { size: CallSize; send(): void }[] = [];

  const hasRoom = ({ message, parts }: CallSize): boolean => {
    if (underWay.parts + parts > MOST_BYTES) return false;
    return underWay.calls < MOST_CALLS || (parts === 0 && underWay.message + message <= PIPED_BYTES);
  };
  const enter = ({ message, parts }: CallSize): void => {
    underWay.calls += 1;
    underWay.message += message;
    underWay.parts += parts;
  };
  const leave = ({ message, parts }: CallSize): void => {
    underWay.calls -= 1;
    underWay.message -= message;
    underWay.parts -= parts;
    for (let next = queue[0]; next !== undefined && hasRoom(next.size); next = queue[0]) {
      queue.shift();
      enter(next.size);
      next.send();
    }
    if (underWay.calls === 0) link.stayAlive(false);
  };

  return {
    async call(target, name, given) {
      if (closed) throw new ToolCallError(CLOSED.code, CLOSED.message);
      const detached = argumentsOf(given);
      const { json: args, places } = detached;
      let { parts } = detached;
      const json = JSON.stringify(args) ?? '';
      const shortName = name.slice(0, NAME_CHARACTERS);
      const message = HEAD_BYTES + shortName.length + Buffer.byteLength(json);
      const size = { message, parts: parts.reduce((sum, part) => sum + part.length, 0) };
      // If there is room, the call is sent before this function first waits.
      if (queue.length === 0 && hasRoom(size)) enter(size);
      else {
        // A copy of the current bytes: the program may reuse its buffers.
        parts = parts.map((part) => new Uint8Array(part));
        await new Promise<void>((send) => queue.push({ size, send }));
      }
      const bytes = places.map((place) => ({ ...place, stream: (lastPart += 1) }));
      lastCall += 1;
      const id = lastCall;
      link.stayAlive(true);
      const { error, value } = await new Promise<CallEnd>((resolve) => {
        pending.set(id, (answer) => {
          leave(size);
          resolve(answer);
        });
        if (bytes.length === 0) return link.sendSoon(packCall(id, target, shortName, { json }));
        link.send(packCall(id, target, shortName, { places: JSON.stringify(bytes), json }));
        bytes.forEach(({ stream }, index) => link.sendBytes(stream, parts[index] ?? new Uint8Array()));
      });
      // Created here, so that its stack leads to the waiting line of the program.
      if (error !== undefined) throw new ToolCallError(error.code, error.message);
      return value;
    },
    settle(bytes) {
      const answer = readAnswer(bytes);
      const resolve = pending.get(answer.id);
      if (resolve === undefined) return;
      const settleNow = (end: CallEnd): void => {
        pending.delete(answer.id);
        resolve(end);
      };
      const given = read(jsonOf(answer));
      if (!answer.ok) return settleNow({ error: given as CallError });
      const listed = placesOf(answer);
      if (listed === undefined) return settleNow({ value: given });
      const places = read(listed) as StreamedBytes[];
      const parts = places.map(({ bytes: size }) => new Uint8Array(size));
      const whole = (): void => settleNow({ value: attachBytes(given, places, parts) });
      let missing = places.length + 1;
      const another = (): void => {
        missing -= 1;
        if (missing === 0) whole();
      };
      places.forEach(({ stream }, index) => {
        const part = parts[index] as Uint8Array;
        if (part.length === 0) another();
        else arriving.set(stream, { bytes: part, filled: 0, whole: another });
      });
      another();
    },
    close() {
      closed = true;
      for (const resolve of pending.values()) resolve({ error: CLOSED });
      pending.clear();
    },
    takeBytes(number, chunk) {
      const part = arriving.get(number);
      if (part === undefined) return;
      part.bytes.set(chunk, part.filled);
      part.filled += chunk.length;
      if (part.filled < part.bytes.length) return;
      arriving.delete(number);
      part.whole();
    },
  };
}

function read(json: Buffer): unknown {
  return JSON.parse(json.toString()) as unknown;
}

function argumentsOf(given: unknown): DetachedValue {
  try {
    return detachBytes(given, ARGUMENT_CAPS);
  } catch (error) {
    // An error of the program's own getter is passed on unchanged.
    if (!(error instanceof ValueFault)) throw error;
    const code = error.isTooLarge ? 'tool.too-large' : 'tool.invalid-arguments';
    throw new ToolCallError(code, `Cannot make the call: the arguments are not acceptable: ${error.message}.`);
  }
}
