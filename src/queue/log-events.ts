import { isUtf8 } from 'node:buffer';
import type { JobEvent, OutputEvent } from '../contracts/jobs/events.ts';
import type { JobLog } from './seams/job-log.ts';

/** Output of this time is one event. */
const JOIN_MS = 50;
/** Bytes of one event of output. */
const MOST_BYTES: number = 64 * 1024;
/** An incomplete character at the end of a text has at most three bytes. */
const MOST_INCOMPLETE = 3;

/** Writes the events of one job to its log. */
export interface EventWriter {
  /** Resolves when the log has room for more. */
  write(event: JobEvent): Promise<void>;
  /** Writes all waiting events. */
  flush(): Promise<void>;
}

/** Output that waits for its event. */
interface WaitingOutput {
  pieces: Uint8Array[];
  bytes: number;
}

/** Successive output of one stream within 50 ms becomes one event, with a text, or with base64 if it is not UTF-8. */
export function writeEvents(log: JobLog, id: string): EventWriter {
  const waiting = new Map<OutputEvent['stream'], WaitingOutput>();
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  const append = (lines: readonly string[]): Promise<void> => {
    last = last.then(() => log.append(id, lines));
    return last;
  };
  const take = (stream: OutputEvent['stream'], isWhole: boolean): string[] => {
    const output = waiting.get(stream);
    if (output === undefined) return [];
    const bytes = Buffer.concat(output.pieces);
    const held = isWhole ? 0 : incompleteBytes(bytes);
    if (held === 0) waiting.delete(stream);
    else waiting.set(stream, { pieces: [bytes.subarray(bytes.length - held)], bytes: held });
    const shown = bytes.subarray(0, bytes.length - held);
    return shown.length === 0 ? [] : [outputLine(id, stream, shown)];
  };
  const takeAll = (isWhole: boolean): string[] => {
    clearTimeout(timer);
    timer = undefined;
    return [...waiting.keys()].flatMap((stream) => take(stream, isWhole));
  };
  return {
    write(event) {
      if (event.type !== 'output') return append([...takeAll(true), JSON.stringify(event)]);
      const output = waiting.get(event.stream) ?? { pieces: [], bytes: 0 };
      output.pieces.push(event.bytes);
      output.bytes += event.bytes.length;
      // The order of both streams is kept.
      const [other] = [...waiting.keys()].filter((stream) => stream !== event.stream);
      const before = other === undefined ? [] : take(other, false);
      waiting.set(event.stream, output);
      timer ??= setTimeout(() => void append(takeAll(false)).catch(() => undefined), JOIN_MS);
      const full = output.bytes >= MOST_BYTES ? take(event.stream, false) : [];
      return append([...before, ...full]);
    },
    flush: () => append(takeAll(true)),
  };
}

function outputLine(jobId: string, stream: OutputEvent['stream'], bytes: Buffer): string {
  const content = isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
  return JSON.stringify({ type: 'output', jobId, stream, ...content });
}

/** The number of bytes at the end that begin a character without its end. */
function incompleteBytes(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(MOST_INCOMPLETE, bytes.length); length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return whole > length ? length : 0;
  }
  return 0;
}
