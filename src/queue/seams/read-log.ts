import type { FileHandle } from 'node:fs/promises';
import type { LoggedEvent, LogPart, LogPlace } from './job-log.ts';

const LINE_END = 10;
/** Bytes that a reader takes at once. An event may be longer. */
export const PIECE_BYTES: number = 32 * 1024;

/**
 * The whole events of a log after a place in it, in pieces of at most 32 KiB. An event without its line end is not there yet.
 *
 * @param memory 32 KiB that hold the present piece
 */
export async function* partsAfter(file: FileHandle, after: LogPlace, memory: Buffer): AsyncGenerator<LogPart[]> {
  const { size } = await file.stat();
  const { attempt } = after;
  for (let at = after.offset; at < size;) {
    const piece = await readAt(file, at, Math.min(PIECE_BYTES, size - at), memory);
    const wholeBytes = piece.lastIndexOf(LINE_END) + 1;
    if (wholeBytes > 0) {
      yield wholeEvents(piece.subarray(0, wholeBytes), { attempt, offset: at });
      at += wholeBytes;
    } else {
      const end = await findLineEnd(file, at + piece.length, size);
      if (end === undefined) return;
      yield* partsOfEvent(file, { attempt, start: at, end }, memory);
      at = end + 1;
    }
  }
}

/** The last whole event of a file, looked for from its end. */
export async function lastEvent(file: FileHandle): Promise<LoggedEvent | undefined> {
  const { size } = await file.stat();
  const end = await findLineEndBefore(file, size);
  if (end === undefined) return undefined;
  const start = ((await findLineEndBefore(file, end)) ?? -1) + 1;
  return { offset: end + 1, head: await readAt(file, start, Math.min(PIECE_BYTES, end - start)) };
}

/** Whether an event ends at an offset. */
export async function endsAt(file: FileHandle, offset: number): Promise<boolean> {
  const [byte] = await readAt(file, offset - 1, 1);
  return byte === LINE_END;
}

function wholeEvents(lines: Buffer, { attempt, offset }: LogPlace): LogPart[] {
  const events: LogPart[] = [];
  for (let start = 0; start < lines.length;) {
    const end = lines.indexOf(LINE_END, start);
    const place = { attempt, offset: offset + end + 1 };
    events.push({ place, bytes: lines.subarray(start, end), isFirst: true, isLast: true });
    start = end + 1;
  }
  return events;
}

/** The event is read a second time, as its end has to be known first. */
async function* partsOfEvent(
  file: FileHandle,
  { attempt, start, end }: { attempt: number; start: number; end: number },
  memory: Buffer,
): AsyncGenerator<LogPart[]> {
  const place = { attempt, offset: end + 1 };
  for (let at = start; at < end;) {
    const bytes = await readAt(file, at, Math.min(PIECE_BYTES, end - at), memory);
    if (bytes.length === 0) throw new Error('the log became shorter');
    const next = at + bytes.length;
    yield [{ place, bytes, isFirst: at === start, isLast: next === end }];
    at = next;
  }
}

async function findLineEnd(file: FileHandle, from: number, size: number): Promise<number | undefined> {
  for (let at = from; at < size;) {
    const piece = await readAt(file, at, Math.min(PIECE_BYTES, size - at));
    const found = piece.indexOf(LINE_END);
    if (found !== -1) return at + found;
    if (piece.length === 0) return undefined;
    at += piece.length;
  }
  return undefined;
}

async function findLineEndBefore(file: FileHandle, before: number): Promise<number | undefined> {
  for (let end = before; end > 0;) {
    const start = Math.max(0, end - PIECE_BYTES);
    const found = (await readAt(file, start, end - start)).lastIndexOf(LINE_END);
    if (found !== -1) return start + found;
    end = start;
  }
  return undefined;
}

async function readAt(
  file: FileHandle,
  at: number,
  length: number,
  memory: Buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(memory, 0, length, at);
  return buffer.subarray(0, bytesRead);
}
