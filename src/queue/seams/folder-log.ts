import { EventEmitter, once } from 'node:events';
import { mkdir, open, readdir, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFault } from './disk-fault.ts';
import type { JobFiles } from './job-files.ts';
import type { JobLog } from './job-log.ts';
import { endsAt, lastEvent, partsAfter, PIECE_BYTES } from './read-log.ts';
import { createTurns } from './turns.ts';

/** Tells readers that the job goes on elsewhere. */
const LEFT = Symbol('left');

/** The name of the log of an attempt. */
const LOG_NAME = /^events\.([1-9]\d{0,8})\.jsonl$/;

/** Logs of one host: a line an event in `events.<attempt>.jsonl` of the job's folder. */
export function folderLog(files: Pick<JobFiles, 'path'>): JobLog {
  const open = openLogs(files);
  const changes = new EventEmitter().setMaxListeners(0);
  const fileOf = (id: string, attempt: number): string => files.path(id, logName(attempt));
  return {
    async begin(id, attempt) {
      await open.begin(id, attempt);
      changes.emit(id);
    },
    async append(id, lines) {
      if (lines.length === 0) return;
      await open.write(id, Buffer.from(lines.map((line) => `${line}\n`).join('')));
      changes.emit(id);
    },
    async *read(id, after, signal) {
      const memory = Buffer.allocUnsafeSlow(PIECE_BYTES);
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
            // Nothing is appended to a log once there is a later one.
            const logs = await attemptsIn(files.path(id, ''));
            const [present, next] = logs.filter((attempt) => attempt >= at.attempt);
            if (present !== undefined && present !== at.attempt) at = { attempt: present, offset: 0 };
            file ??= await openIfThere(fileOf(id, at.attempt), 'r');
            for await (const parts of file === undefined ? [] : partsAfter(file, at, memory)) {
              yield parts;
              at = parts.at(-1)?.place ?? at;
            }
            if (next !== undefined) {
              await file?.close();
              [file, at] = [undefined, { attempt: next, offset: 0 }];
            } else if ((await changed)[0] === LEFT) return;
          } finally {
            waiting.abort();
          }
        }
      } finally {
        await file?.close();
      }
    },
    async isPlace(id, { attempt, offset }) {
      const newest = (await attemptsIn(files.path(id, ''))).at(-1) ?? attempt;
      if (attempt > newest) return false;
      if (offset === 0) return true;
      return (await readFrom(fileOf(id, attempt), (file) => endsAt(file, offset))) ?? true;
    },
    async last(id) {
      await open.truncateTorn(id);
      return await readFrom(await open.lastLog(id), lastEvent);
    },
    release: (id) => open.release(id),
    leave: (id) => void changes.emit(id, LEFT),
  };
}

function logName(attempt: number): string {
  return `events.${attempt}.jsonl`;
}

/** Whether a file in the folder of a job is a log. */
export function isLogName(name: string): boolean {
  return LOG_NAME.test(name);
}

/** The attempts that have logs in a folder, in order. */
async function attemptsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const attempts = names.flatMap((name) => LOG_NAME.exec(name)?.[1] ?? []);
  return attempts.map(Number).toSorted((a, b) => a - b);
}

/** Open files of logs, each with one writer at a time. */
interface OpenLogs {
  /** The path of the last log, or of the first one. */
  lastLog(id: string): Promise<string>;
  begin(id: string, attempt: number): Promise<void>;
  write(id: string, bytes: Buffer): Promise<void>;
  truncateTorn(id: string): Promise<void>;
  release(id: string): Promise<void>;
}

function openLogs(files: Pick<JobFiles, 'path'>): OpenLogs {
  const handles = new Map<string, Promise<FileHandle>>();
  const inTurn = createTurns();
  const lastLog = async (id: string): Promise<string> =>
    files.path(id, logName((await attemptsIn(files.path(id, ''))).at(-1) ?? 1));
  const handleOf = (id: string): Promise<FileHandle> => {
    const known = handles.get(id) ?? lastLog(id).then(openToAppend);
    handles.set(id, known);
    return known;
  };
  const release = async (id: string): Promise<void> => {
    const handle = handles.get(id);
    handles.delete(id);
    await (await handle)?.close();
  };
  return {
    lastLog,
    begin: (id, attempt) =>
      inTurn(id, async () => {
        await release(id);
        try {
          await (await openToAppend(files.path(id, logName(attempt)))).close();
        } catch (error) {
          throw diskFault(error);
        }
      }),
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
        const path = await lastLog(id);
        const whole = (await readFrom(path, lastEvent))?.offset ?? 0;
        const file = await openIfThere(path, 'r+');
        await file?.truncate(whole);
        await file?.close();
      }),
    release: (id) => inTurn(id, () => release(id)),
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
