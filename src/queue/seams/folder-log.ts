import { EventEmitter, once } from 'node:events';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFault } from './disk-fault.ts';
import type { JobFiles } from './job-files.ts';
import type { JobLog, LoggedEvent } from './job-log.ts';
import { createTurns } from './turns.ts';

const FILE = 'events.jsonl';
const LINE_END = 10;
/** Bytes that a reader takes at once. An event may be longer. */
const PIECE_BYTES: number = 64 * 1024;

/** A log of one host: a line an event in `events.jsonl` of the job's folder. The id of an event is the offset after its line. */
export function folderLog(files: Pick<JobFiles, 'path'>): JobLog {
  const open = openLogs(files);
  const changes = new EventEmitter().setMaxListeners(0);
  return {
    async append(id, lines) {
      if (lines.length === 0) return;
      await open.write(id, Buffer.from(lines.map((line) => `${line}\n`).join('')));
      changes.emit(id);
    },
    async *read(id, after, signal) {
      let at = after;
      let file: FileHandle | undefined;
      try {
        for (;;) {
          signal.throwIfAborted();
          // Listen first: an event that arrives during the read is not missed.
          const waiting = new AbortController();
          const changed = once(changes, id, { signal: AbortSignal.any([signal, waiting.signal]) });
          changed.catch(() => undefined);
          try {
            file ??= await openIfThere(files.path(id, FILE), 'r');
            for await (const event of file === undefined ? [] : linesAfter(file, at)) {
              yield event;
              at = event.id;
            }
            await changed;
          } finally {
            waiting.abort();
          }
        }
      } finally {
        await file?.close();
      }
    },
    async isPlace(id, after) {
      if (after === 0) return true;
      const byte = await readAt(files.path(id, FILE), after - 1, 1);
      return byte[0] === LINE_END;
    },
    async last(id) {
      await open.truncateTorn(id);
      return await lastLine(files.path(id, FILE));
    },
    release: (id) => open.release(id),
  };
}

/** Open files of logs, each with one writer at a time. */
interface OpenLogs {
  write(id: string, bytes: Buffer): Promise<void>;
  truncateTorn(id: string): Promise<void>;
  release(id: string): Promise<void>;
}

function openLogs(files: Pick<JobFiles, 'path'>): OpenLogs {
  const handles = new Map<string, Promise<FileHandle>>();
  const inTurn = createTurns();
  const handleOf = (id: string): Promise<FileHandle> => {
    const known = handles.get(id) ?? openToAppend(files.path(id, FILE));
    handles.set(id, known);
    return known;
  };
  return {
    write: (id, bytes) =>
      inTurn(id, async () => {
        try {
          await (await handleOf(id)).writeFile(bytes);
        } catch (error) {
          throw diskFault(error);
        }
      }),
    truncateTorn: (id) =>
      inTurn(id, async () => {
        if (handles.has(id)) return;
        const path = files.path(id, FILE);
        const whole = (await lastLine(path))?.id ?? 0;
        const file = await openIfThere(path, 'r+');
        await file?.truncate(whole);
        await file?.close();
      }),
    release: (id) =>
      inTurn(id, async () => {
        const handle = handles.get(id);
        handles.delete(id);
        await (await handle)?.close();
      }),
  };
}

/** The whole lines of a file after an offset. A line without its end is not there yet. */
async function* linesAfter(file: FileHandle, after: number): AsyncGenerator<LoggedEvent> {
  const { size } = await file.stat();
  let at = after;
  let rest: Buffer[] = [];
  for (let from = after; from < size;) {
    const length = Math.min(PIECE_BYTES, size - from);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, from);
    if (bytesRead === 0) return;
    from += bytesRead;
    let piece = buffer.subarray(0, bytesRead);
    for (let end = piece.indexOf(LINE_END); end !== -1; end = piece.indexOf(LINE_END)) {
      const line = Buffer.concat([...rest, piece.subarray(0, end)]);
      rest = [];
      at += line.length + 1;
      piece = piece.subarray(end + 1);
      yield { id: at, line: line.toString('utf8') };
    }
    if (piece.length > 0) rest.push(piece);
  }
}

/** The last whole line of a file, read from its end. */
async function lastLine(path: string): Promise<LoggedEvent | undefined> {
  const file = await openIfThere(path, 'r');
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    let tail = Buffer.alloc(0);
    for (let from = size; ;) {
      const end = tail.lastIndexOf(LINE_END);
      const begin = end <= 0 ? -1 : tail.lastIndexOf(LINE_END, end - 1);
      if (end !== -1 && (begin !== -1 || from === 0)) {
        return { id: from + end + 1, line: tail.subarray(begin + 1, end).toString('utf8') };
      }
      if (from === 0) return undefined;
      const length = Math.min(from, PIECE_BYTES);
      from -= length;
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, from);
      tail = Buffer.concat([buffer, tail]);
    }
  } finally {
    await file.close();
  }
}

async function readAt(path: string, from: number, length: number): Promise<Buffer> {
  const file = await openIfThere(path, 'r');
  if (file === undefined) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The folder of the job may have been lost: the log is then begun anew. */
async function openToAppend(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return await open(path, 'a', 0o600);
}

async function openIfThere(path: string, flags: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
