import type { FileHandle } from 'node:fs/promises';
import type { LoggedEvent, LogPart } from './job-log.ts';

const LINE_END = 10;
/** Bytes that a reader takes at once. An event may be longer. */
export const PIECE_BYTES: number = 32 * 1024;

/**
 * The whole events of a file after an offset, in pieces of at most 32 KiB. An event without its line end is not there yet.
 *
 * @param place 32 KiB that hold the present piece
 */
export async function* partsAfter(file: FileHandle, after: number, place: Buffer): AsyncGenerator<LogPart[]> {
  const { size } = await file.stat();
  for (let at = after; at < size;) {
    const piece = await readAt(file, at, Math.min(PIECE_BYTES, size - at), place);
    const wholeBytes = piece.lastIndexOf(LINE_END) + 1;
    if (wholeBytes > 0) {
      yield wholeEvents(piece.subarray(0, wholeBytes), at);
      at += wholeBytes;
    } else {
      const end = await findLineEnd(file, at + piece.length, size);
      if (end === undefined) return;
      yield* partsOfEvent(file, at, end, place);
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
  return { id: end + 1, head: await readAt(file, start, Math.min(PIECE_BYTES, end - start)) };
}

/** Whether an event ends at an offset. */
export async function endsAt(file: FileHandle, offset: number): Promise<boolean> {
  const [byte] = await readAt(file, offset - 1, 1);
  return byte === LINE_END;
}

function wholeEvents(lines: Buffer, offset: number): LogPart[] {
  const events: LogPart[] = [];
  for (let start = 0; start < lines.length;) {
    const end = lines.indexOf(LINE_END, start);
    events.push({ id: offset + end + 1, bytes: lines.subarray(start, end), isFirst: true, isLast: true });
    start = end + 1;
  }
  return events;
}

/** The event is read a second time, as its id has to be known first. */
async function* partsOfEvent(file: FileHandle, start: number, end: number, place: Buffer): AsyncGenerator<LogPart[]> {
  for (let at = start; at < end;) {
    const bytes = await readAt(file, at, Math.min(PIECE_BYTES, end - at), place);
    if (bytes.length === 0) throw new Error('the log became shorter');
    const next = at + bytes.length;
    yield [{ id: end + 1, bytes, isFirst: at === start, isLast: next === end }];
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
  place: Buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(place, 0, length, at);
  return buffer.subarray(0, bytesRead);
}
