import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { type ConditionalWrite, ignoredCondition, unsupported } from './conditional-writes.ts';
import { type ConnectedS3, connectS3 } from './connect-s3.ts';
import { failureOf, FaultyAnswer, unavailable } from './s3-failure.ts';
import { addressOf, type S3Connection } from './s3-options.ts';

/** Lets so many run at once, in the order in which they came. */
export type TakePlace = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** An object as a list has it. */
export interface ListedObject {
  key: string;
  /** Without its quotation marks, which some services compare with the rest. */
  etag: string;
  bytes: number;
  /** Milliseconds since 1970, by the clock of the service; 0 where it says none. */
  changedAt: number;
}

/** A page of a list. */
export interface ListedPage {
  objects: ListedObject[];
  /** Keys that are no UTF-8, as the service writes them. */
  unreadable: string[];
  /** Asks for the next page. */
  next: string | undefined;
  /** When the service answered, by its own clock, in milliseconds since 1970, whole seconds; 0 where it does not say. */
  at: number;
}

/** What `write` has to find: an object of this ETag, none (null), or whatever there is. */
export type Expected = { etag: string | null } | 'any';

/** Requests to a bucket: each with a time, and what is read tried again. Sixteen are under way at most. */
export interface S3Access {
  readonly address: string;
  list(from: { prefix: string; token?: string | undefined }, signal?: AbortSignal): Promise<ListedPage>;
  /** Undefined where it is no longer that object. @throws SkillcellError `store.unavailable` */
  read(object: Pick<ListedObject, 'key' | 'etag' | 'bytes'>, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** Whether there is an object, and which. */
  look(key: string, signal?: AbortSignal): Promise<ListedObject | undefined>;
  /**
   * Tries, once, whether the service keeps conditions of writes.
   *
   * @param key of an object that is to be written
   * @throws SkillcellError `store.unsupported`, `store.unavailable`
   */
  requireConditions(key: string, signal?: AbortSignal): Promise<void>;
  /**
   * The ETag of what was written; undefined where something else than was expected is there, or may be: look.
   *
   * @throws SkillcellError `store.unsupported` for what is expected of a service that does not look
   */
  write(key: string, body: Uint8Array, expected: Expected, signal?: AbortSignal): Promise<string | undefined>;
  /** Copies within the bucket. @returns the ETag of the copy */
  copy(from: string, to: string, signal?: AbortSignal): Promise<string>;
  remove(key: string, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Requests that one store has under way; others wait for a place. */
export const REQUESTS_AT_ONCE = 16;
const PAUSE_MS = 100;
const PROBE: Uint8Array = Buffer.from('skillcell\n');

/**
 * Opens a bucket; nothing is asked before the first call.
 *
 * @param pageKeys how many keys a page has; for tests, the service's own number otherwise
 */
export function openS3Access(connection: S3Connection, { pageKeys }: { pageKeys?: number } = {}): S3Access {
  const address = addressOf(connection);
  const { bucket: Bucket, timeoutMs = 15_000, tries = 3 } = connection;
  const take = createPlaces(REQUESTS_AT_ONCE);
  let connected: Promise<ConnectedS3> | undefined;

  /** One request, up to `times` times; `again` where the last of them may have been done. */
  const ask = async <Result>(
    action: string,
    { times, signal }: { times: number; signal: AbortSignal | undefined },
    work: (s3: ConnectedS3, signal: AbortSignal, heard: () => void) => Promise<Result>,
  ): Promise<{ found: Result } | { found?: undefined; kind: 'moved' | 'absent' | 'again'; reason: string }> => {
    for (let tried = 1; ; tried += 1) {
      try {
        const found = await take(async () => {
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
  /** A write of a probe, tried again where the service fails. */
  const putProbe = async (key: string, expected: { etag: string | null }): Promise<ConditionalWrite> => {
    for (let tried = 1; ; tried += 1) {
      const asked = await put(key, PROBE, expected, undefined).catch(refusalOf);
      // Who may write there, and not here, is no matter of conditions.
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
    // A service that was not reached is asked again.
    ignored.catch(() => (ignored = undefined));
    const condition = await ignored;
    if (condition !== undefined) throw unsupported(condition, address);
  };

  return {
    address,
    requireConditions,
    async list({ prefix, token }, signal) {
      const action = 'list skills';
      const asked = await ask(action, { times: tries, signal }, async ({ sdk, client }, abortSignal) => {
        const command = new sdk.ListObjectsV2Command({
          Bucket,
          Prefix: prefix,
          // Else a key with a control character would be no XML.
          EncodingType: 'url',
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
          throw new FaultyAnswer('that there is more, and not how to ask for it');
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
            throw new FaultyAnswer(`${ContentLength} bytes where ${bytes} are listed`);
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
      // One that never came up has nothing to close.
      connected?.then(({ client }) => client.destroy()).catch(() => undefined);
    },
  };
}

/** Undefined for what a service refuses. */
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
  return {
    objects,
    unreadable,
    at,
    next: page.IsTruncated === true ? page.NextContinuationToken : undefined,
  };
}

/** Amazon writes a blank as `+` and a plus as `%2B`. Undefined where it is no UTF-8. */
function decodedKey(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    // It is said of the key that it cannot be read.
    return undefined;
  }
}

function bare(etag: string): string {
  return etag.replace(/^"|"$/g, '');
}

/** Reads a body that has to be of one size: a shorter one was cut, and of a longer one nobody knows where it ends. */
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
  if (left !== 0) throw new FaultyAnswer(`${bytes - left} bytes where ${bytes} are listed`);
  return Buffer.concat(chunks, bytes);
}

/**
 * Ends work that nothing is heard of for a time, or that the caller withdraws.
 *
 * @param work gets a signal to end by, and what it calls whenever something came
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
    throw isQuiet ? new FaultyAnswer(`nothing for ${timeoutMs} ms`) : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', withdraw);
  }
}

/** Makes so many places; whoever finds none waits for one. */
export function createPlaces(count: number): TakePlace {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
