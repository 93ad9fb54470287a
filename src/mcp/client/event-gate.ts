import { createLineCutter } from './line-cutter.ts';
import {
  kindOf,
  MESSAGE_BYTES,
  parseMessage,
  tooLong,
  tooMuch,
  TransportFault,
  UNASKED_BYTES,
} from './transport-fault.ts';

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = Buffer.from('\n');
const DATA = /^data: ?/;

/**
 * Lets the events of a stream (HTML standard, server-sent events) through, each once all of it is there and its message is one that is taken.
 * A stream that is refused breaks off.
 */
export function createEventGate(): TransformStream<Uint8Array, Uint8Array> {
  let lines: Buffer[] = [];
  let bytes = 0;
  let unasked = 0;
  let out: TransformStreamDefaultController<Uint8Array>;

  const endEvent = (): void => {
    const data = lines.flatMap((line) => dataOf(line) ?? []);
    const kind = data.length === 0 ? 'other' : kindOf(parseMessage(Buffer.concat(joined(data))));
    if (kind === 'answer') unasked = 0;
    // The rest of an event says where a stream that breaks off is taken up again.
    const passed = kind === 'other' ? lines.filter((line) => dataOf(line) === undefined) : lines;
    if (passed.length > 0) out.enqueue(Buffer.concat([...joined(passed), LINE_FEED, LINE_FEED]));
    [lines, bytes] = [[], 0];
  };
  const take = (given: Buffer): void => {
    const line = given.at(-1) === CARRIAGE_RETURN ? given.subarray(0, -1) : given;
    // A line may end with a carriage return alone, which nobody writes, and which JSON never holds.
    if (line.includes(CARRIAGE_RETURN))
      throw new TransportFault('sent an event that is refused: a carriage return in it');
    bytes += line.length + 1;
    if (bytes > MESSAGE_BYTES) throw tooLong();
    if (line.length > 0) lines.push(line);
    else if (lines.length > 0) endEvent();
  };
  const cut = createLineCutter({ maxBytes: MESSAGE_BYTES, take, tooLong });

  return new TransformStream({
    start(controller) {
      out = controller;
    },
    transform(chunk) {
      unasked += chunk.length;
      cut(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (unasked > UNASKED_BYTES) throw tooMuch();
    },
  });
}

function dataOf(line: Buffer): Buffer | undefined {
  const [name] = DATA.exec(line.toString('latin1', 0, 6)) ?? [];
  return name === undefined ? undefined : line.subarray(name.length);
}

function joined(lines: readonly Buffer[]): Buffer[] {
  return lines.flatMap((line, index) => (index === 0 ? [line] : [LINE_FEED, line]));
}
