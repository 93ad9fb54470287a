import { EventEmitter, once } from 'node:events';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFault } from './disk-fault.ts';
import type { JobFiles } from './job-files.ts';
import type { JobLog } from './job-log.ts';
import { endsAt, lastEvent, partsAfter, PIECE_BYTES } from './read-log.ts';
import { createTurns } from './turns.ts';

const FILE = 'events.jsonl';

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
      const place = Buffer.allocUnsafeSlow(PIECE_BYTES);
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
            for await (const parts of file === undefined ? [] : partsAfter(file, at, place)) {
              yield parts;
              at = parts.at(-1)?.id ?? at;
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
      return (await readFrom(files.path(id, FILE), (file) => endsAt(file, after))) ?? false;
    },
    async last(id) {
      await open.truncateTorn(id);
      return await readFrom(files.path(id, FILE), lastEvent);
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
        const whole = (await readFrom(path, lastEvent))?.id ?? 0;
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

/** The folder of the job may have been lost: the log is then begun anew. */
async function openToAppend(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return await open(path, 'a', 0o600);
}

/** Undefined without the file. */
async function readFrom<Result>(
  path: string,
  read: (file: FileHandle) => Promise<Result>,
): Promise<Result | undefined> {
  const file = await openIfThere(path, 'r');
  try {
    return file === undefined ? undefined : await read(file);
  } finally {
    await file?.close();
  }
}

async function openIfThere(path: string, flags: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
