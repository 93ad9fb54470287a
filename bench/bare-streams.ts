import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';

const [THERE, BACK] = ['bench:there', 'bench:back'];
type Entries = [string, [string, string[]][]][] | null;

/** Two processes that exchange entries over two streams of Redis, with nothing else. */
export interface BareStreams extends Disposable {
  /** The mean of one round trip, in milliseconds. */
  roundTrip(rounds: number): Promise<number>;
}

/** @param url of a user with all rights */
export async function startBareStreams(url: string): Promise<BareStreams> {
  const peer: ChildProcess = spawn(process.execPath, [fileURLToPath(import.meta.url), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(peer.stdout as NodeJS.ReadableStream, 'data');
  const [reader, writer] = [new Redis(url), new Redis(url)];
  let at = '$';
  return {
    async roundTrip(rounds) {
      const from = performance.now();
      for (let round = 0; round < rounds; round += 1) {
        const answer = reader.xread('COUNT', 1, 'BLOCK', 0, 'STREAMS', BACK, at) as Promise<Entries>;
        await writer.xadd(THERE, 'MAXLEN', '~', 100, '*', 'bytes', 'x'.repeat(100));
        at = (await answer)?.[0]?.[1]?.[0]?.[0] ?? at;
      }
      return (performance.now() - from) / rounds;
    },
    [Symbol.dispose]() {
      reader.disconnect();
      writer.disconnect();
      peer.kill('SIGKILL');
    },
  };
}

/** Sends each entry back. */
async function answerAll(url: string): Promise<never> {
  const [reader, writer] = [new Redis(url), new Redis(url)];
  await writer.xadd(THERE, '*', 'bytes', 'first');
  let at = '$';
  const last = (await reader.xrevrange(THERE, '+', '-', 'COUNT', 1)) as [string, string[]][];
  at = last[0]?.[0] ?? at;
  process.stdout.write('ready\n');
  for (;;) {
    const entries = await reader.xread('COUNT', 1, 'BLOCK', 0, 'STREAMS', THERE, at);
    const [id, [, bytes = '']] = entries?.[0]?.[1]?.[0] ?? ['', []];
    at = id;
    await writer.xadd(BACK, 'MAXLEN', '~', 100, '*', 'bytes', bytes);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await answerAll(process.argv[2] ?? '');
