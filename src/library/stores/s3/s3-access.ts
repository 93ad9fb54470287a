import { createLimiter } from '../../../protocol/limiter.ts';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { type ConditionalWrite, ignoredCondition, unsupported } from './conditional-writes.ts';
import { type ConnectedS3, connectS3 } from './connect-s3.ts';
import { failureOf, FaultyAnswer, unavailable } from './s3-failure.ts';
import { addressOf, type S3Connection } from './s3-options.ts';

/** An object, as a list describes it. */
export interface ListedObject {
  key: string;
  /** Without quotation marks: services differ in them. */
  etag: string;
  bytes: number;
  /** Milliseconds since 1970, by the clock of the service; 0 where it gives none. */
  changedAt: number;
}

/** A page of a list. */
export interface ListedPage {
  objects: ListedObject[];
  /** Prefixes up to the next slash, if the list was asked for them; their objects are not in it. */
  prefixes: string[];
  /** Keys that are not UTF-8, as the service writes them. */
  unreadable: string[];
  /** Token of the next page. */
  next: string | undefined;
  /** Time of the answer by the service's clock, in milliseconds since 1970, whole seconds; 0 where it gives none. */
  at: number;
}

/** The state that `write` expects: an object with this ETag, no object (null), or any state. */
export type Expected = { etag: string | null } | 'any';

/** Requests to a bucket, at most sixteen at once. Each has a timeout. Reads are retried. */
export interface S3Access {
  readonly address: string;
  /** @param from with `folders`, what lies below a further slash is one prefix of the page */
  list(
    from: { prefix: string; token?: string | undefined; folders?: boolean | undefined },
    signal?: AbortSignal,
  ): Promise<ListedPage>;
  /** Undefined where the object has changed. @throws SkillcellError `store.unavailable` */
  read(object: Pick<ListedObject, 'key' | 'etag' | 'bytes'>, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** The object of a key; undefined where it does not exist. */
  look(key: string, signal?: AbortSignal): Promise<ListedObject | undefined>;
  /**
   * Tests, only once, whether the service honours conditions of writes.
   *
   * @param key of an object that is to be written
   * @throws SkillcellError `store.unsupported`, `store.unavailable`
   */
  requireConditions(key: string, signal?: AbortSignal): Promise<void>;
  /**
   * Writes an object and returns its ETag; undefined where the expected state is absent, or the outcome is unknown: look.
   *
   * @throws SkillcellError `store.unsupported` for a service that ignores conditions
   */
  write(key: string, body: Uint8Array, expected: Expected, signal?: AbortSignal): Promise<string | undefined>;
  /**
   * Writes an object from a file, in pieces.
   *
   * @throws SkillcellError `store.unavailable`, or of the file
   */
  upload(key: string, path: string, signal?: AbortSignal): Promise<void>;
  /**
   * Writes an object to a file, in pieces; false where the object does not exist. A failure may leave a part of it.
   *
   * @throws SkillcellError `store.unavailable`, or of the file
   */
  download(key: string, path: string, signal?: AbortSignal): Promise<boolean>;
  /** Copies within the bucket. @returns the ETag of the copy */
  copy(from: string, to: string, signal?: AbortSignal): Promise<string>;
  remove(key: string, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Concurrent requests of one store; further ones wait. */
export const REQUESTS_AT_ONCE = 16;
const PAUSE_MS = 100;
const PIECE_BYTES: number = 64 * 1024;
const PROBE: Uint8Array = Buffer.from('skillcell\n');

/**
 * Opens a bucket; no request is sent before the first call.
 *
 * @param pageKeys keys per page; for tests, the service's default otherwise
 */
export function openS3Access(connection: S3Connection, { pageKeys }: { pageKeys?: number } = {}): S3Access {
  const address = addressOf(connection);
  const { bucket: Bucket, timeoutMs = 15_000, tries = 3 } = connection;
  const requests = createLimiter({ room: REQUESTS_AT_ONCE });
  let connected: Promise<ConnectedS3> | undefined;

  /** One request, up to `times` times. Kind `again`: the last attempt may have succeeded at the service. */
  const ask = async <Result>(
    action: string,
    { times, signal }: { times: number; signal: AbortSignal | undefined },
    work: (s3: ConnectedS3, signal: AbortSignal, heard: () => void) => Promise<Result>,
  ): Promise<{ found: Result } | { found?: undefined; kind: 'moved' | 'absent' | 'again'; reason: string }> => {
    for (let tried = 1; ; tried += 1) {
      try {
        const found = await requests.run(async () => {
          signal?.throwIfAborted();
          const s3 = await (connected ??= connectS3(connection));
          return withinQuiet(timeoutMs, signal, (inner, heard) => work(s3, inner, heard));
        });
        return { found };
      } catch (error) {
        signal?.throwIfAborted();
        const { kind, reason, hint } = failureOf(error);
        if (kind === 'refused') throw unavailable(action, address, reason, hint);
        if (kind !== 'again' || tried >= times) return { kind, reason };
        await pause(PAUSE_MS * 4 ** (tried - 1), undefined, { ...(signal === undefined ? {} : { signal }) });
      }
    }
  };

  const put = (key: string, body: Uint8Array, expected: Expected, signal: AbortSignal | undefined) =>
    ask('write a skill', { times: expected === 'any' ? tries : 1, signal }, async ({ sdk, client }, abortSignal) => {
      const condition =
        expected === 'any' ? {} : expected.etag === null ? { IfNoneMatch: '*' } : { IfMatch: expected.etag };
      const command = new sdk.PutObjectCommand({ Bucket, Key: key, Body: body, ...condition });
      const { ETag = '' } = await client.send(command, { abortSignal });
      return bare(ETag);
    });
  const remove = async (key: string, signal?: AbortSignal): Promise<void> => {
    const action = 'remove a file';
    const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal) => {
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }), { abortSignal });
      return true;
    });
    if (asked.found === undefined && asked.kind === 'again') throw unavailable(action, address, asked.reason);
  };
  /** Writes a probe, with retries where the service fails. */
  const putProbe = async (key: string, expected: { etag: string | null }): Promise<ConditionalWrite> => {
    for (let tried = 1; ; tried += 1) {
      const asked = await put(key, PROBE, expected, undefined).catch(refusalOf);
      // A refused probe gives no answer about conditions.
      if (asked === undefined) return 'unknown';
      if (asked.found !== undefined) return 'written';
      if (asked.kind !== 'again') return 'refused-by-condition';
      if (asked.reason.endsWith(' 501')) return 'not-implemented';
      if (tried >= tries) throw unavailable('write a skill', address, asked.reason);
      await pause(PAUSE_MS * 4 ** (tried - 1));
    }
  };
  let ignored: Promise<string | undefined> | undefined;
  const requireConditions: S3Access['requireConditions'] = async (key, signal) => {
    signal?.throwIfAborted();
    ignored ??= ignoredCondition(key, { write: putProbe, remove });
    // After a failed probe, the next call tries again.
    ignored.catch(() => (ignored = undefined));
    const condition = await ignored;
    if (condition !== undefined) throw unsupported(condition, address);
  };

  return {
    address,
    requireConditions,
    async list({ prefix, token, folders = false }, signal) {
      const action = 'list a bucket';
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal) => {
        const command = new sdk.ListObjectsV2Command({
          Bucket,
          Prefix: prefix,
          // Without it, a key with a control character would break the XML.
          EncodingType: 'url',
          ...(folders ? { Delimiter: '/' } : {}),
          ...(pageKeys === undefined ? {} : { MaxKeys: pageKeys }),
          ...(token === undefined ? {} : { ContinuationToken: token }),
        });
        let at = 0;
        command.middlewareStack.add(
          (next) => async (args) => {
            const result = await next(args);
            at = Date.parse((result.response as { headers: Record<string, string> }).headers['date'] ?? '') || 0;
            return result;
          },
          { step: 'deserialize', priority: 'low', name: 'answeredAt' },
        );
        const page = await client.send(command, { abortSignal });
        if (page.IsTruncated === true && !page.NextContinuationToken)
          throw new FaultyAnswer('the service reports another page without a token for it');
        return pageOf(page, at);
      });
      if (asked.found === undefined) throw unavailable(action, address, asked.reason);
      return asked.found;
    },
    async read({ key, etag, bytes }, signal) {
      const action = 'read a skill';
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal, heard) => {
        const command = new sdk.GetObjectCommand({ Bucket, Key: key, IfMatch: etag });
        const { Body, ContentLength, ETag } = await client.send(command, { abortSignal });
        const body = Body as Readable;
        try {
          if (ContentLength !== undefined && ContentLength !== bytes)
            throw new FaultyAnswer(`the service sent ${ContentLength} bytes where ${bytes} are listed`);
          if (ETag !== undefined && bare(ETag) !== etag) return undefined;
          return await wholeBody(body, { bytes, abortSignal, heard });
        } catch (error) {
          body.destroy();
          throw error;
        }
      });
      if (!('kind' in asked)) return asked.found;
      if (asked.kind === 'again') throw unavailable(action, address, asked.reason);
      return undefined;
    },
    async look(key, signal) {
      const action = 'look for a file';
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal) => {
        const {
          ETag = '',
          ContentLength = 0,
          LastModified,
        } = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }), { abortSignal });
        return { key, etag: bare(ETag), bytes: ContentLength, changedAt: LastModified?.getTime() ?? 0 };
      });
      if (asked.found !== undefined) return asked.found;
      if (asked.kind === 'again') throw unavailable(action, address, asked.reason);
      return undefined;
    },
    async write(key, body, expected, signal) {
      if (expected !== 'any') await requireConditions(key, signal);
      const asked = await put(key, body, expected, signal);
      if (asked.found !== undefined) return asked.found;
      if (expected === 'any') throw unavailable('write a skill', address, asked.reason);
      return undefined;
    },
    async upload(key, path, signal) {
      const action = 'store a file';
      await using file = await open(path);
      const { size } = await file.stat();
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal, heard) => {
        // An empty stream would be sent without a length.
        const Body = size === 0 ? new Uint8Array() : Readable.from(piecesOf(file, size, heard), { objectMode: false });
        await client.send(new sdk.PutObjectCommand({ Bucket, Key: key, Body, ContentLength: size }), { abortSignal });
        return true;
      });
      if (asked.found === undefined) throw unavailable(action, address, asked.reason);
    },
    async download(key, path, signal) {
      const action = 'fetch a file';
      await using file = await open(path, 'w', 0o600);
      /** A failure of the disk is not tried again. */
      let fault: Error | undefined;
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal, heard) => {
        const command = new sdk.GetObjectCommand({ Bucket, Key: key });
        const { Body, ContentLength } = await client.send(command, { abortSignal });
        const body = Body as Readable;
        abortSignal.addEventListener('abort', () => body.destroy(new Error('withdrawn')));
        await file.truncate();
        let bytes = 0;
        for await (const piece of body as AsyncIterable<Buffer>) {
          heard();
          try {
            for (let at = 0; at < piece.length;)
              at += (await file.write(piece, at, piece.length - at, bytes + at)).bytesWritten;
          } catch (error) {
            fault = error as Error;
            return true;
          }
          bytes += piece.length;
        }
        if (ContentLength !== undefined && ContentLength !== bytes)
          throw new FaultyAnswer(`the service sent ${bytes} bytes of ${ContentLength}`);
        return true;
      });
      if (fault !== undefined) throw fault;
      if (asked.found !== undefined) return true;
      if (asked.kind === 'again') throw unavailable(action, address, asked.reason);
      return false;
    },
    async copy(from, to, signal) {
      const action = 'write a skill';
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal) => {
        const source = `${Bucket}/${from}`.split('/').map(encodeURIComponent).join('/');
        const command = new sdk.CopyObjectCommand({ Bucket, Key: to, CopySource: source });
        const { CopyObjectResult } = await client.send(command, { abortSignal });
        return bare(CopyObjectResult?.ETag ?? '');
      });
      if (asked.found === undefined) throw unavailable(action, address, asked.reason);
      return asked.found;
    },
    remove,
    close() {
      // A connection that failed has nothing to close.
      connected?.then(({ client }) => client.destroy()).catch(() => undefined);
    },
  };
}

/** Undefined for a request that the service refuses. */
function refusalOf(error: unknown): undefined {
  if (!SkillcellError.isInstance(error)) throw error;
}

interface SentPage {
  Contents?:
    | {
        Key?: string | undefined;
        ETag?: string | undefined;
        Size?: number | undefined;
        LastModified?: Date | undefined;
      }[]
    | undefined;
  CommonPrefixes?: { Prefix?: string | undefined }[] | undefined;
  EncodingType?: string | undefined;
  IsTruncated?: boolean | undefined;
  NextContinuationToken?: string | undefined;
}

function pageOf(page: SentPage, at: number): ListedPage {
  const objects: ListedObject[] = [];
  const unreadable: string[] = [];
  const isEncoded = page.EncodingType === 'url';
  for (const { Key = '', ETag = '', Size = 0, LastModified } of page.Contents ?? []) {
    const key = isEncoded ? decodedKey(Key) : Key;
    if (key === undefined) unreadable.push(Key);
    else objects.push({ key, etag: bare(ETag), bytes: Size, changedAt: LastModified?.getTime() ?? 0 });
  }
  const prefixes = (page.CommonPrefixes ?? []).flatMap(({ Prefix = '' }) => {
    const prefix = isEncoded ? decodedKey(Prefix) : Prefix;
    return prefix ?? [];
  });
  return {
    objects,
    prefixes,
    unreadable,
    at,
    next: page.IsTruncated === true ? page.NextContinuationToken : undefined,
  };
}

/** Amazon writes a blank as `+` and a plus as `%2B`. Undefined where the key is not UTF-8. */
function decodedKey(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    // Reported as an unreadable key.
    return undefined;
  }
}

function bare(etag: string): string {
  return etag.replace(/^"|"$/g, '');
}

/** The first bytes of a file, piece by piece. */
async function* piecesOf(file: FileHandle, size: number, onPiece: () => void): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(PIECE_BYTES),
      0,
      Math.min(PIECE_BYTES, size - at),
      at,
    );
    if (bytesRead === 0) throw new Error('the file became shorter');
    at += bytesRead;
    onPiece();
    yield buffer.subarray(0, bytesRead);
  }
}

/** Reads a body of an exact size. A shorter body was cut; a longer one has no known end. */
async function wholeBody(
  body: Readable,
  { bytes, abortSignal, heard }: { bytes: number; abortSignal: AbortSignal; heard: () => void },
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let left = bytes;
  const end = (): void => void body.destroy(new Error('withdrawn'));
  abortSignal.addEventListener('abort', end);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      heard();
      left -= chunk.length;
      if (left < 0) break;
      chunks.push(chunk);
    }
  } finally {
    abortSignal.removeEventListener('abort', end);
  }
  if (left !== 0) throw new FaultyAnswer(`the service sent ${bytes - left} bytes where ${bytes} are listed`);
  return Buffer.concat(chunks, bytes);
}

/**
 * Ends work after a time without progress, or when the caller aborts.
 *
 * @param work gets a signal to end by, and a callback that reports progress
 */
export async function withinQuiet<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal, heard: () => void) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let isQuiet = false;
  const timer = setTimeout(() => {
    isQuiet = true;
    controller.abort();
  }, timeoutMs);
  const withdraw = (): void => controller.abort();
  signal?.addEventListener('abort', withdraw);
  try {
    signal?.throwIfAborted();
    return await work(controller.signal, () => timer.refresh());
  } catch (error) {
    signal?.throwIfAborted();
    throw isQuiet ? new FaultyAnswer(`the service sent nothing for ${timeoutMs} ms`) : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', withdraw);
  }
}
