import type { Experimental_SandboxSession as SandboxSession } from 'ai';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { GuestLink } from './guest-link.ts';
import { asOurs, isMissing } from './guest-refusal.ts';
import { decodeBytes, encodeText } from './text-encoding.ts';

/** Lines from the first to the last one, counted from 1, both included. */
interface LineRange {
  startLine?: number | undefined;
  endLine?: number | undefined;
}

/** The part of a sandbox's session that is about files. */
export type SandboxFiles = Pick<
  SandboxSession,
  | 'readFile'
  | 'readBinaryFile'
  | 'readTextFile'
  | 'writeFile'
  | 'writeBinaryFile'
  | 'writeTextFile'
  | 'stat'
  | 'listDirectory'
  | 'deleteFile'
>;

/** Bytes of one piece of a read; results may hold four times as many. */
const READ_BYTES = 4 * 1024 * 1024;
/** Bytes of one piece of a write: in base64 they are a part of a run's code. */
const WRITE_BYTES = 640 * 1024;
/** The most that is read into memory at once. */
const WHOLE_BYTES = 128 * 1024 * 1024;

const done = z.object({});
const piece = z.object({ isWhole: z.boolean() });
const entries = z.array(z.object({ name: z.string(), type: z.enum(['file', 'directory', 'symlink', 'other']) }));
const binary = z.object({
  content: z.custom((value) => value instanceof Uint8Array, 'must be bytes, as a Uint8Array'),
});
const textual = z.object({ content: z.string() });
const isFree = (value: unknown): boolean => {
  const { getReader, locked } = Object(value) as Partial<ReadableStream>;
  return typeof getReader === 'function' && locked === false;
};
const streamed = z.object({ content: z.custom(isFree, 'must be a ReadableStream that is not locked') });
const stats = z.object({ type: z.enum(['file', 'directory', 'other']), size: z.number().check(z.minimum(0)) });

/** The files of a session, with the rights of its code: links are followed as a program follows them. */
export function createSandboxFiles(link: GuestLink): SandboxFiles {
  /** Null if the path does not exist; other faults are errors of ours. */
  const orNull = async <T>(action: string, path: string, work: Promise<T>): Promise<T | null> => {
    try {
      return await work;
    } catch (error) {
      if (isMissing(error)) return null;
      throw asOurs(error, action, path);
    }
  };
  const readFile = async (path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array> | null> => {
    const handle = link.nextId();
    const opened = link.ask('openToRead', { path, handle, most: READ_BYTES }, piece);
    const first = await orNull('read a file', path, opened);
    if (first === null) return null;
    let next: { isWhole: boolean; bytes: Uint8Array } | undefined = { ...first.said, bytes: first.bytes };
    const close = async (): Promise<void> => {
      if (next?.isWhole !== true) await link.ask('close', { handle }, done);
    };
    if (signal?.aborted === true) await close();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (signal?.aborted === true) {
            await close();
            throw signal.reason;
          }
          const { isWhole, bytes } = next ?? (await readOn(path, handle));
          next = undefined;
          if (bytes.length > 0) controller.enqueue(bytes);
          if (isWhole) controller.close();
        },
        cancel: close,
      },
      { highWaterMark: 0 },
    );
  };
  const readOn = async (path: string, handle: number): Promise<{ isWhole: boolean; bytes: Uint8Array }> => {
    try {
      const { said, bytes } = await link.ask('read', { handle, most: READ_BYTES }, piece);
      return { ...said, bytes };
    } catch (error) {
      throw asOurs(error, 'read a file', path);
    }
  };
  const readBytes = async (path: string): Promise<Uint8Array | null> => {
    const stream = await readFile(path);
    if (stream === null) return null;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > WHOLE_BYTES)
        throw new SkillcellError(
          'file.unreadable',
          `Cannot read a file: at most ${WHOLE_BYTES} bytes are read at once, got ${JSON.stringify(path)}.`,
          { hint: 'Read it as a stream, by readFile.' },
        );
      chunks.push(chunk);
    }
    return new Uint8Array(Buffer.concat(chunks));
  };
  /** An existing file stays until all of the content has arrived. */
  const writeChunks = async (
    path: string,
    chunks: AsyncIterable<unknown> | Iterable<unknown>,
    signal: AbortSignal,
  ): Promise<void> => {
    const handle = link.nextId();
    const writeChunk = async (chunk: Uint8Array): Promise<void> => {
      for (let at = 0; at < chunk.length; at += WRITE_BYTES) {
        signal.throwIfAborted();
        const base64 = Buffer.from(chunk.subarray(at, at + WRITE_BYTES)).toString('base64');
        await link.ask('write', { handle, base64 }, done);
      }
    };
    try {
      await link.ask('openToWrite', { path, handle }, done);
      for await (const chunk of chunks) {
        if (!(chunk instanceof Uint8Array)) throw noBytes(path);
        await writeChunk(chunk);
      }
      signal.throwIfAborted();
      await link.ask('finish', { handle }, done);
    } catch (error) {
      // The first error is reported.
      await link.ask('close', { handle }, done).catch(() => undefined);
      throw asOurs(error, 'write a file', path);
    }
  };

  return {
    readFile: ({ path, abortSignal }) => unlessAborted(abortSignal, () => readFile(path, abortSignal)),
    readBinaryFile: ({ path, abortSignal }) => unlessAborted(abortSignal, () => readBytes(path)),
    readTextFile: ({ path, encoding, startLine, endLine, abortSignal }) =>
      unlessAborted(abortSignal, async () => {
        // Faults of the arguments are reported, whether the file exists or not.
        linesOf('', { startLine, endLine });
        decodeBytes(new Uint8Array(), path, encoding);
        const bytes = await readBytes(path);
        return bytes === null ? null : linesOf(decodeBytes(bytes, path, encoding), { startLine, endLine });
      }),
    writeFile: ({ path, content, abortSignal }) =>
      unlessAborted(abortSignal, async (signal) => {
        checkOptions(streamed, { content }, { action: 'write a file' });
        await writeChunks(path, streamChunks(content, signal), signal);
      }),
    writeBinaryFile: ({ path, content, abortSignal }) =>
      unlessAborted(abortSignal, async (signal) => {
        checkOptions(binary, { content }, { action: 'write a file' });
        await writeChunks(path, [content], signal);
      }),
    writeTextFile: ({ path, content, encoding, abortSignal }) =>
      unlessAborted(abortSignal, async (signal) => {
        checkOptions(textual, { content }, { action: 'write a text file' });
        await writeChunks(path, [encodeText(content, path, encoding)], signal);
      }),
    stat: ({ path, abortSignal }) =>
      unlessAborted(abortSignal, async () => {
        const found = await orNull('look at a file', path, link.ask('stat', { path }, stats));
        return found === null ? null : found.said;
      }),
    listDirectory: ({ path, abortSignal }) =>
      unlessAborted(abortSignal, async () => {
        const found = await orNull('list a folder', path, link.ask('list', { path }, done));
        return found === null ? null : readEntries(found.bytes, path);
      }),
    deleteFile: ({ path, abortSignal }) =>
      unlessAborted(abortSignal, async () => {
        return (await orNull('delete a file', path, link.ask('remove', { path }, done))) !== null;
      }),
  };
}

function noBytes(path: string): SkillcellError {
  const message = `Cannot write a file: the content must be bytes, got something else for ${JSON.stringify(path)}.`;
  return new SkillcellError('options.invalid', message);
}

/** A listing of the sandbox, which hostile code may have made. */
function readEntries(bytes: Uint8Array, path: string): z.infer<typeof entries> {
  try {
    return entries.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch (cause) {
    const message = `Cannot list a folder: its listing is not valid, got ${JSON.stringify(path)}.`;
    throw new SkillcellError('sandbox.lost', message, { cause });
  }
}

/**
 * Lines of a text unchanged, without the end of the last one. Without a range, the whole text. A carriage return ends a line before a
 * line feed, or if the text has no line feed at all.
 *
 * @throws SkillcellError `options.invalid`
 */
function linesOf(text: string, { startLine, endLine }: LineRange): string {
  for (const [name, value] of Object.entries({ startLine, endLine })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new SkillcellError(
      'options.invalid',
      `Cannot read lines: ${name} must be a whole number from 1, got ${value}.`,
    );
  }
  if (startLine === undefined && endLine === undefined) return text;
  // Lines at even indexes, each followed by its line end.
  const pieces = text.split(text.includes('\n') ? /(\r?\n)/ : /(\r)/);
  const first = ((startLine ?? 1) - 1) * 2;
  return pieces.slice(first, endLine === undefined ? undefined : endLine * 2 - 1).join('');
}

/**
 * The chunks of a stream, until it ends or the signal aborts. A caller that leaves early cancels the stream and releases its lock. A silent
 * stream that ignores its cancel blocks nothing.
 */
async function* streamChunks<Chunk>(
  content: ReadableStream<Chunk>,
  signal: AbortSignal,
): AsyncGenerator<Chunk, void, undefined> {
  const reader = content.getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    if (!isOver) cancel();
    reader.releaseLock();
  }
}

/**
 * Does some work, and gives up with the signal's reason once the signal aborts. Operations of the sandbox that were started still run to their end.
 *
 * @param work gets a signal that aborts as well
 */
async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const own = new AbortController();
  if (signal === undefined) return await work(own.signal);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => {
    own.abort(signal.reason);
    // oxlint-disable-next-line prefer-promise-reject-errors -- the reason is the caller's own
    reject(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(own.signal), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
