import {
  attachBytes,
  detachBytes,
  ValueFault,
  type BytesPlace,
  type DetachedValue,
} from '../../../src/protocol/value-bytes.ts';
import type { SupervisorLink } from './supervisor-link.ts';

/** What the broker takes; said here, so that nothing of it is sent for nothing. */
const ARGUMENT_CAPS = { jsonBytes: 256 * 1024, totalBytes: 8 * 1024 * 1024 };

/** What came of a call. */
export interface ReplyMessage {
  type: 'reply';
  id: number;
  ok: boolean;
  value?: unknown;
  /** Bytes that follow, and where they stand in the value. */
  bytes?: (BytesPlace & { part: number })[];
  error?: { code: string; message: string };
}

/** A call that gave no value. */
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
  call(target: 'tool' | 'model', name: string, given: unknown): Promise<unknown>;
  settle(message: ReplyMessage): void;
  takeBytes(part: number, chunk: Buffer): void;
}

/** Makes calls over a link. */
export function createProgramCalls(link: SupervisorLink): ProgramCalls {
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  /** Bytes of answers that are not whole yet. */
  const arriving = new Map<number, { bytes: Uint8Array; filled: number; whole(): void }>();
  let lastCall = 0;
  let lastPart = 0;

  return {
    async call(target, name, given) {
      const { json: args, places, parts } = argumentsOf(given);
      const bytes = places.map((place) => ({ ...place, part: (lastPart += 1) }));
      lastCall += 1;
      const id = lastCall;
      link.stayAlive(true);
      return await new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject });
        if (bytes.length === 0) return link.sendSoon({ type: 'call', id, target, name, args });
        link.send({ type: 'call', id, target, name, args, bytes });
        bytes.forEach(({ part }, index) => link.sendBytes(part, parts[index] ?? new Uint8Array()));
      });
    },
    settle(message) {
      const call = pending.get(message.id);
      if (call === undefined) return;
      const settleNow = (act: () => void): void => {
        pending.delete(message.id);
        if (pending.size === 0) link.stayAlive(false);
        act();
      };
      const { error, bytes: places = [] } = message;
      if (!message.ok)
        return settleNow(() =>
          call.reject(new ToolCallError(error?.code ?? 'tool.failed', error?.message ?? 'the call failed')),
        );
      const parts = places.map(({ bytes }) => new Uint8Array(bytes));
      const whole = (): void => settleNow(() => call.resolve(attachBytes(message.value, places, parts)));
      let missing = places.length + 1;
      const another = (): void => {
        missing -= 1;
        if (missing === 0) whole();
      };
      places.forEach(({ part }, index) => {
        const bytes = parts[index] as Uint8Array;
        if (bytes.length === 0) another();
        else arriving.set(part, { bytes, filled: 0, whole: another });
      });
      another();
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

function argumentsOf(given: unknown): DetachedValue {
  try {
    return detachBytes(given, ARGUMENT_CAPS);
  } catch (error) {
    // What a getter of the program throws is the program's own.
    if (!(error instanceof ValueFault)) throw error;
    const code = error.isTooLarge ? 'tool.too-large' : 'tool.invalid-arguments';
    throw new ToolCallError(code, `Cannot make the call: the arguments are not acceptable, got ${error.message}.`);
  }
}
