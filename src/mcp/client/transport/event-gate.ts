import { createLineSplitter } from '../../../protocol/line-splitter.ts';
import {
  kindOf,
  MESSAGE_BYTES,
  parseMessage,
  refuseLongLine,
  tooLong,
  tooMuch,
  TransportFault,
  UNASKED_BYTES,
} from './transport-fault.ts';

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = Buffer.from('\n');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const EMPTY_DATA = Buffer.from('data:');
/** A known field, and the beginning of its value. */
const FIELD = /^(data|event|id|retry)(?:: ?|$)/;
const MESSAGE_TYPES: readonly string[] = ['', 'message'];

interface Field {
  name: string;
  value: Buffer;
  line: Buffer;
}

/**
 * Passes the events of a stream (HTML standard, server-sent events) on, each once it is complete and its message is accepted.
 * Of an event without a message only the id and the retry time pass. A refused stream breaks off.
 *
 * @param resumedAt the id of the event after which the stream continues: the SDK forgets it when the stream ends again without an id
 */
export function createEventGate(resumedAt?: string): TransformStream<Uint8Array, Uint8Array> {
  let fields: Field[] = [];
  let isFirst = true;
  let bytes = 0;
  let unasked = 0;
  let out: TransformStreamDefaultController<Uint8Array>;

  const endEvent = (): void => {
    const data = fields.flatMap(({ name, value }) => (name === 'data' ? [value] : []));
    const type = fields.findLast(({ name }) => name === 'event')?.value.toString('latin1', 0, 8) ?? '';
    const isMessage = MESSAGE_TYPES.includes(type) && data.some(({ length }) => length > 0);
    const kind = isMessage ? kindOf(parseMessage(Buffer.concat(joined(data)))) : 'other';
    if (kind === 'answer') unasked = 0;
    const passed = kind === 'other' ? withoutMessage(fields) : fields.map(({ line }) => line);
    if (passed.length > 0) out.enqueue(Buffer.concat([...joined(passed), LINE_FEED, LINE_FEED]));
    [fields, bytes] = [[], 0];
  };
  const take = (given: Buffer): void => {
    const line = given.at(-1) === CARRIAGE_RETURN ? given.subarray(0, -1) : given;
    // A lone carriage return may end a line too; servers do not write that, and JSON never holds it.
    if (line.includes(CARRIAGE_RETURN))
      throw new TransportFault('sent an event that is refused: a carriage return in it');
    bytes += line.length + 1;
    if (bytes > MESSAGE_BYTES) throw tooLong();
    const hasMark = isFirst && line.indexOf(BYTE_ORDER_MARK) === 0;
    isFirst = false;
    if (line.length === 0) return endEvent();
    const field = fieldOf(hasMark ? line.subarray(BYTE_ORDER_MARK.length) : line);
    // Other lines, such as comments, are dropped: another reader could only interpret them differently.
    if (field !== undefined) fields.push(field);
  };
  const cut = createLineSplitter(MESSAGE_BYTES, { line: take, tooLong: refuseLongLine });

  return new TransformStream({
    start(controller) {
      out = controller;
      if (resumedAt !== undefined) out.enqueue(Buffer.from(`id: ${resumedAt}\ndata:\n\n`));
    },
    transform(chunk) {
      unasked += chunk.length;
      cut(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (unasked > UNASKED_BYTES) throw tooMuch();
    },
  });
}

function fieldOf(line: Buffer): Field | undefined {
  const [begin, name] = FIELD.exec(line.toString('latin1', 0, 8)) ?? [];
  if (begin === undefined || name === undefined) return undefined;
  return { name, value: line.subarray(begin.length), line };
}

/** An id counts only for an event with data. */
function withoutMessage(fields: readonly Field[]): Buffer[] {
  const kept = fields.filter(({ name }) => name === 'id' || name === 'retry');
  const lines = kept.map(({ line }) => line);
  return kept.some(({ name }) => name === 'id') ? [...lines, EMPTY_DATA] : lines;
}

function joined(lines: readonly Buffer[]): Buffer[] {
  return lines.flatMap((line, index) => (index === 0 ? [line] : [LINE_FEED, line]));
}
