import type { Readable, Writable } from 'node:stream';
import { parseBoundedJson } from '../../src/protocol/bounded-json.ts';

/** A message from an executor. Its process runs user code, so nothing in it is believed but its form. */
export type ExecutorMessage =
  | { type: 'waiting' }
  | { type: 'rehearsed' }
  | { type: 'call'; id: unknown; target: unknown; name: unknown; args: unknown }
  /** The program ended, and all that it wrote is on its way. */
  | { type: 'exit'; code: number; error?: unknown; json?: unknown }
  /** The program is ending by an error; its process will end when it has said so. */
  | { type: 'error'; error?: unknown; json?: unknown };

/** Messages to and from one executor: a 4-byte little-endian length and JSON, each way. */
export interface ExecutorLink {
  send(message: object): void;
  /** Sends NUL-terminated strings, which is what the bash executor reads. */
  sendStrings(strings: readonly string[]): void;
  /** Stops reading until the same reason is released; more waits in the executor's own pipe. */
  hold(reason: 'calls' | 'answers'): void;
  release(reason: 'calls' | 'answers'): void;
  /** Who takes the messages; set anew when a run begins. */
  onMessage: (message: ExecutorMessage) => void;
  /** Told once when something arrives that is no message, or one over the cap. */
  onFault: (reason: string) => void;
}

/** Bytes of answers that may wait for a program that doesn't read them. */
const MAX_UNREAD = 32 * 1024 * 1024;

/** Connects to an executor, whose messages may have at most `maxBytes`. */
export function connectExecutor(input: Readable, output: Writable, maxBytes: number): ExecutorLink {
  let held: Buffer[] = [];
  let size = 0;
  let broken = false;
  const holds = new Set<string>();

  const fail = (reason: string): void => {
    broken = true;
    held = [];
    link.onFault(reason);
  };

  const next = (): Buffer | undefined => {
    if (size < 4) return undefined;
    let whole = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
    held = [whole];
    const length = whole.readUInt32LE(0);
    if (length > maxBytes) {
      fail(`a message over ${maxBytes} bytes`);
      return undefined;
    }
    if (size < 4 + length) return undefined;
    const body = whole.subarray(4, 4 + length);
    whole = whole.subarray(4 + length);
    size = whole.length;
    held = size > 0 ? [whole] : [];
    return body;
  };

  /** Hands messages on until there is none left or someone holds them: one chunk may hold hundreds. */
  const take = (): void => {
    while (holds.size === 0 && !broken) {
      const body = next();
      if (body === undefined) return;
      const message = readMessage(body, maxBytes);
      if (message === undefined) return fail('a message of no known form');
      link.onMessage(message);
    }
  };

  input.on('data', (chunk: Buffer) => {
    if (broken) return;
    held.push(chunk);
    size += chunk.length;
    // A large message arrives in many chunks; joining them waits until the announced length is there.
    if (size >= 4 && held.length > 1 && (held[0] as Buffer).length >= 4) {
      const announced = (held[0] as Buffer).readUInt32LE(0);
      if (announced <= maxBytes && size < 4 + announced) return;
    }
    take();
  });
  // The executor's end is noticed by its process, and a write to an executor that is gone is of no use to anyone.
  input.on('error', () => undefined);
  output.on('error', () => undefined);
  output.on('drain', () => link.release('answers'));

  const link: ExecutorLink = {
    onMessage: () => undefined,
    onFault: () => undefined,
    send(message) {
      const body = Buffer.from(JSON.stringify(message));
      const length = Buffer.allocUnsafe(4);
      length.writeUInt32LE(body.length, 0);
      output.write(Buffer.concat([length, body]));
      if (output.writableLength > MAX_UNREAD) link.hold('answers');
    },
    sendStrings(strings) {
      output.write(Buffer.from(strings.map((text) => `${text}\0`).join('')));
    },
    hold(reason) {
      holds.add(reason);
      input.pause();
    },
    release(reason) {
      if (!holds.delete(reason)) return;
      take();
      if (holds.size === 0) input.resume();
    },
  };
  return link;
}

function readMessage(body: Buffer, maxBytes: number): ExecutorMessage | undefined {
  let parsed: unknown;
  try {
    parsed = parseBoundedJson(body, { maxBytes });
  } catch {
    // Hostile or broken input; the caller ends the run with its own reason.
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const fields = parsed as Record<string, unknown>;
  switch (fields['type']) {
    case 'waiting':
    case 'rehearsed':
      return { type: fields['type'] };
    case 'call':
      return { type: 'call', id: fields['id'], target: fields['target'], name: fields['name'], args: fields['args'] };
    case 'error':
      return { type: 'error', error: fields['error'], json: fields['json'] };
    case 'exit': {
      const code = fields['code'];
      if (typeof code !== 'number' || !Number.isInteger(code)) return undefined;
      return { type: 'exit', code: code & 255, error: fields['error'], json: fields['json'] };
    }
    default:
      return undefined;
  }
}
