import type { Experimental_SandboxSession as SandboxSession } from 'ai';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { type FileOrder, inTime } from '../../jobs/session/file-requests.ts';
import type { SandboxPort } from '../../jobs/session/sandbox-port.ts';
import { SandboxRefusal } from '../../jobs/session/sandbox-refusal.ts';
import { parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import { asOurs } from './as-ours.ts';
import { outputStream } from './output-stream.ts';
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

/** The most that is read into memory at once. */
const WHOLE_BYTES = 128 * 1024 * 1024;
/** The most bytes of a listing. */
const LISTING_BYTES = 16 * 1024 * 1024;
const STATUS_BYTES = 1024;

const KINDS = { file: 'file', folder: 'directory', link: 'symlink', other: 'other' } as const;
const entries = z.array(z.strictObject({ name: z.string(), kind: z.enum(['file', 'folder', 'link', 'other']) }));
const status = z.strictObject({
  kind: z.enum(['file', 'folder', 'other']),
  bytes: z.number().check(z.int(), z.nonnegative()),
});
const binary = z.object({
  content: z.custom((value) => value instanceof Uint8Array, 'must be bytes, as a Uint8Array'),
});
const textual = z.object({ content: z.string() });
const isFree = (value: unknown): boolean => {
  const { getReader, locked } = Object(value) as Partial<ReadableStream>;
  return typeof getReader === 'function' && locked === false;
};
const streamed = z.object({ content: z.custom(isFree, 'must be a ReadableStream that is not locked') });

/** The files of a session, with the rights of its code: links are followed as a program follows them. */
export function createSandboxFiles(port: SandboxPort): SandboxFiles {
  const ask = async <T>(
    action: string,
    order: Pick<FileOrder, 'op' | 'path'>,
    maxBytes: number,
    read: (bytes: Buffer) => T,
  ): Promise<T | null> => {
    const bytes = await orNull(action, order.path, port.busy(port.perform({ ...order, follow: true }, maxBytes)));
    return bytes === null ? null : read(bytes);
  };
  const readFile = async (path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array> | null> => {
    const output = outputStream(0);
    let arrival = Promise.withResolvers<void>();
    const request = port.begin({ op: 'read', path, follow: true }, Number.MAX_SAFE_INTEGER, {
      data(chunk) {
        arrival.resolve();
        arrival = Promise.withResolvers();
        return output.take(chunk);
      },
      end: () => undefined,
      fail: (error) => output.fail(asOurs(error, 'read a file', path)),
    });
    const leave = (reason: unknown): void => {
      request.drop();
      output.fail(reason);
    };
    output.onCancel = request.drop;
    output.onPull = () => {
      if (signal?.aborted === true) leave(signal.reason);
      const awaited = inTime(Promise.race([arrival.promise, request.done]));
      port.busy(awaited).catch((error: unknown) => leave(asOurs(error, 'read a file', path)));
    };
    request.done.then(output.end, () => undefined);
    const begun = await orNull('read a file', path, port.busy(inTime(request.begun)));
    if (signal?.aborted === true) leave(signal.reason);
    return begun === null ? null : output.stream;
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
  /**
   * An existing file stays until all of the content has arrived.
   *
   * @param chunks gets a signal that also aborts when the sandbox refuses the file
   */
  const writeChunks = async (
    path: string,
    chunks: (signal: AbortSignal) => AsyncIterable<unknown> | Iterable<unknown>,
    signal: AbortSignal,
  ): Promise<void> => {
    const request = port.begin({ op: 'write', path, follow: true }, 0, { data: () => undefined, end: () => undefined });
    const refused = new AbortController();
    request.done.catch((error: unknown) => refused.abort(error));
    const stop = AbortSignal.any([signal, refused.signal]);
    const send = async (): Promise<void> => {
      for await (const chunk of chunks(stop)) {
        if (!(chunk instanceof Uint8Array)) throw noBytes(path);
        stop.throwIfAborted();
        await inTime(Promise.race([request.content?.write(chunk), request.done]));
      }
      stop.throwIfAborted();
      request.content?.end();
      await inTime(request.done);
    };
    try {
      await port.busy(send());
    } catch (error) {
      request.drop();
      // The first error is reported, once the partial file is gone.
      await inTime(request.done).catch(() => undefined);
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
        await writeChunks(path, (stop) => streamChunks(content, stop), signal);
      }),
    writeBinaryFile: ({ path, content, abortSignal }) =>
      unlessAborted(abortSignal, async (signal) => {
        checkOptions(binary, { content }, { action: 'write a file' });
        await writeChunks(path, () => [content], signal);
      }),
    writeTextFile: ({ path, content, encoding, abortSignal }) =>
      unlessAborted(abortSignal, async (signal) => {
        checkOptions(textual, { content }, { action: 'write a text file' });
        const bytes = encodeText(content, path, encoding);
        await writeChunks(path, () => [bytes], signal);
      }),
    stat: ({ path, abortSignal }) =>
      unlessAborted(abortSignal, () =>
        ask('look at a file', { op: 'stat', path }, STATUS_BYTES, (bytes) => {
          const { kind, bytes: size } = readJson(status, bytes, 'look at a file', path);
          return { type: KINDS[kind], size };
        }),
      ),
    listDirectory: ({ path, abortSignal }) =>
      unlessAborted(abortSignal, () =>
        ask('list a folder', { op: 'entries', path }, LISTING_BYTES, (bytes) =>
          readJson(entries, bytes, 'list a folder', path).map(({ name, kind }) => ({ name, type: KINDS[kind] })),
        ),
      ),
    deleteFile: ({ path, abortSignal }) =>
      unlessAborted(abortSignal, async () => {
        return (await ask('delete a file', { op: 'unlink', path }, 0, () => true)) !== null;
      }),
  };
}

/** Null if the path does not exist; other refusals are errors of ours. */
async function orNull<T>(action: string, path: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SandboxRefusal && error.fault === 'missing') return null;
    throw asOurs(error, action, path);
  }
}

function noBytes(path: string): SkillcellError {
  const message = `Cannot write a file: the content must be bytes, got something else for ${JSON.stringify(path)}.`;
  return new SkillcellError('options.invalid', message);
}

/** Reads an answer of the sandbox, which hostile code may have made. */
function readJson<T>(schema: z.ZodMiniType<T>, bytes: Buffer, action: string, path: string): T {
  try {
    return schema.parse(parseBoundedJson(bytes, { maxBytes: LISTING_BYTES }));
  } catch (cause) {
    const message = `Cannot ${action}: the answer is not valid, got ${JSON.stringify(path)}.`;
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
