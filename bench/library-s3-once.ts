/**
 * Lists a prefix and reads each SKILL.md once, in its own process: with this project's store or with Amazon's client alone. Prints time, requests and
 * memory.
 */
import { subscribe } from 'node:diagnostics_channel';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { openTreeCache } from '../src/library/stores/cache/tree-cache.ts';
import { createS3Store } from '../src/library/stores/s3/s3-store.ts';
import { forgetPeak, peakMemory } from '../test/fixtures/peak-memory.ts';

/** Task of one process. */
export interface S3Task {
  who: 'bare' | 'ours';
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  bucket: string;
  prefix: string;
  cache: string;
}

/** Result of one process. */
export interface S3Outcome {
  ms: number;
  requests: number;
  pages: number;
  skills: number;
  bytes: number;
  /** Memory at the peak, beyond the memory of a process that has loaded the client. */
  memoryBytes: number;
  /** Memory still held after reading and garbage collection, beyond the same. */
  keptBytes: number;
}

interface Read {
  skills: number;
  bytes: number;
  close(): Promise<void>;
}

const AT_ONCE = 16;

if (import.meta.main) {
  const task = JSON.parse(process.argv[2] ?? '') as S3Task;
  let requests = 0;
  let pages = 0;
  subscribe('http.client.request.start', (message) => {
    requests += 1;
    if ((message as { request: { path: string } }).request.path.includes('list-type=2')) pages += 1;
  });
  const heldBefore = heldBytes();
  const before = forgetPeak(process.pid);
  const started = performance.now();
  const { skills, bytes, close } = await (task.who === 'bare' ? readBare(task) : readOurs(task));
  const ms = performance.now() - started;
  const memoryBytes = peakMemory(process.pid) - before;
  const keptBytes = heldBytes() - heldBefore;
  await close();
  process.stdout.write(
    JSON.stringify({ ms, requests, pages, skills, bytes, memoryBytes, keptBytes } satisfies S3Outcome),
  );
}

async function readBare({ endpoint, credentials, bucket: Bucket, prefix: Prefix }: S3Task): Promise<Read> {
  const client = new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true });
  const keys: string[] = [];
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix, ...(token !== undefined && { ContinuationToken: token }) }),
    );
    for (const { Key = '' } of page.Contents ?? []) if (Key.endsWith('/SKILL.md')) keys.push(Key);
    token = page.NextContinuationToken;
  } while (token !== undefined);
  let next = 0;
  let bytes = 0;
  const work = async (): Promise<void> => {
    for (let Key = keys[next++]; Key !== undefined; Key = keys[next++]) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      bytes += (await Body?.transformToByteArray())?.length ?? 0;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { skills: keys.length, bytes, close: async () => client.destroy() };
}

async function readOurs({ endpoint, credentials, bucket, prefix, cache }: S3Task): Promise<Read> {
  const trees = openTreeCache(cache);
  const store = createS3Store({ bucket, prefix, endpoint, credentials, kind: 'user', cache: trees });
  const { items } = await store.list();
  let next = 0;
  let bytes = 0;
  const work = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++])
      bytes += (await store.head(item)).skillFile.bytes.length;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const close = async (): Promise<void> => {
    await store.close();
    trees.close();
  };
  return { skills: items.length, bytes, close };
}

function heldBytes(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
