import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { captureOutput, type OutputCapture } from '../../../runtime/run/output-capture.ts';
import type { ByteWriter } from '../../../src/protocol/channel/channel.ts';
import { deferred } from '../../fixtures/deferred.ts';
import { until } from '../../fixtures/until.ts';

/** Longer than a test's timeout, so that a wait for it fails the test. */
const NEVER_MS = 2 ** 31 - 1;

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'output-capture-'));
});
afterEach(() => {
  if (child?.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  child = undefined;
  rmSync(folder, { recursive: true });
});

/** A writer that stores its chunks, each after a given wait. */
function keepingWriter(before: () => Promise<void>): { writer: ByteWriter; taken: Buffer[]; ends(): number } {
  const taken: Buffer[] = [];
  let ends = 0;
  const writer: ByteWriter = {
    async write(chunk) {
      await before();
      taken.push(Buffer.from(chunk));
    },
    end: () => void (ends += 1),
  };
  return { writer, taken, ends: () => ends };
}

interface Started {
  stdout: Readable;
  stderr: Readable;
  third: Readable;
  flag: string;
}

/** Starts a shell script with a third pipe; its first argument is the path of a missing file. */
function start(script: string): Started {
  const flag = join(folder, 'written');
  child = spawn('/bin/sh', ['-c', script, 'sh', flag], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const [, stdout, stderr, third] = child.stdio as unknown as [null, Readable, Readable, Readable];
  return { stdout, stderr, third, flag };
}

/** Blocks the event loop while waiting, so that every byte stays in the pipes until the caller yields. */
function blockUntilThere(path: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; !existsSync(path); round += 1) {
    if (round > 2_000) throw new Error('The program has not written all within ten seconds.');
    Atomics.wait(clock, 0, 0, 5);
  }
}

interface Captured {
  captured: OutputCapture;
  writers: Record<'stdout' | 'stderr', ReturnType<typeof keepingWriter>>;
  flag: string;
}

function capture(script: string, before?: () => Promise<void>): Captured {
  return follow(start(script), before);
}

function follow(
  { stdout, stderr, flag }: Omit<Started, 'third'>,
  before: () => Promise<void> = async () => undefined,
): Captured {
  const writers = { stdout: keepingWriter(before), stderr: keepingWriter(before) };
  const captured: OutputCapture = captureOutput(stdout, stderr, {
    keptBytes: 1024 * 1024,
    totalBytes: 16 * 1024 * 1024,
    onTotal: () => undefined,
    writers: { stdout: writers.stdout.writer, stderr: writers.stderr.writer },
  });
  return { captured, writers, flag };
}

const HELD = 'head -c 60000 /dev/zero; head -c 50000 /dev/zero >&2; : >"$1"; exec sleep 60';

it('a capture of a silent program that still holds its pipes gives their whole contents without a wait', async () => {
  const { captured, writers, flag } = capture(HELD);
  blockUntilThere(flag);
  await captured.finish('gone', NEVER_MS);
  expect(child?.exitCode).toBeNull();
  expect([captured.stdout().bytes, captured.stderr().bytes]).toEqual([60_000, 50_000]);
  expect(Buffer.concat(writers.stdout.taken).equals(Buffer.alloc(60_000))).toBe(true);
  expect(Buffer.concat(writers.stderr.taken).equals(Buffer.alloc(50_000))).toBe(true);
  expect([writers.stdout.ends(), writers.stderr.ends()]).toEqual([1, 1]);
});

it('a capture of a program that has sent a word gives all output before it, even if the word is read first', async () => {
  // The event loop reads its pipes in their order of creation.
  const pipes = start('head -c 60000 /dev/zero >&2; head -c 50000 /dev/zero >&3; echo done; : >"$1"; exec sleep 60');
  const { captured, writers, flag } = follow({ stdout: pipes.stderr, stderr: pipes.third, flag: pipes.flag });
  const heard = deferred<boolean>();
  let before: number | undefined;
  pipes.stdout.once('data', () => {
    before = captured.stdout().bytes + captured.stderr().bytes;
    void captured.finish('done', NEVER_MS).then(heard.resolve);
  });
  blockUntilThere(flag);
  expect(await heard.promise).toBe(true);
  expect(before).toBe(0);
  expect([captured.stdout().bytes, captured.stderr().bytes]).toEqual([60_000, 50_000]);
  expect(Buffer.concat(writers.stdout.taken).length).toBe(60_000);
});

it('a capture loses no output of a silent program whose pieces are taken late', async () => {
  const gate = deferred<void>();
  const late = async (): Promise<void> => {
    await gate.promise;
    await new Promise((resolve) => setTimeout(resolve, 30));
  };
  // The first piece is read and held back, so all later output stays in the pipe.
  const { captured, writers, flag } = capture(
    'printf first; until [ -e "$1" ]; do sleep 0.01; done; head -c 60000 /dev/zero; : >"$1-all"; exec sleep 60',
    late,
  );
  await until(() => captured.stdout().bytes > 0, 'the first piece');
  writeFileSync(flag, '');
  await until(() => existsSync(`${flag}-all`), 'all output of the program');
  expect(captured.stdout().bytes).toBe(5);
  const finished = captured.finish('gone', NEVER_MS);
  setTimeout(() => gate.resolve(undefined), 50);
  await finished;
  expect(Buffer.concat(writers.stdout.taken).length).toBe(60_005);
  expect(captured.stdout()).toMatchObject({ bytes: 60_005, truncated: false });
  expect(writers.stdout.ends()).toBe(1);
});

it('a capture of a program that may still write takes output that entered the pipe while a piece was held back, even after its time', async () => {
  const [first, last] = [deferred<void>(), deferred<void>()];
  const gates = [first, last];
  const { captured, writers, flag } = capture(
    'printf first; until [ -e "$1" ]; do sleep 0.01; done; head -c 60000 /dev/zero; : >"$1-some"; head -c 60000 /dev/zero; : >"$1-all"; exec sleep 60',
    () => gates.shift()?.promise ?? Promise.resolve(),
  );
  await until(() => captured.stdout().bytes > 0, 'the first piece');
  writeFileSync(flag, '');
  await until(() => existsSync(`${flag}-some`), 'a full pipe');
  const finished = captured.finish('any', 20);
  first.resolve(undefined);
  // The second piece is held back longer than the grace time, and the rest waits behind it.
  await until(() => existsSync(`${flag}-all`), 'all output of the program');
  setTimeout(() => last.resolve(undefined), 100);
  await finished;
  expect(Buffer.concat(writers.stdout.taken).length).toBe(120_005);
  expect(captured.stdout()).toMatchObject({ bytes: 120_005, truncated: false });
});

it('a capture of a program that may still write waits for the end of its streams', async () => {
  const { captured, writers } = capture('printf one; sleep 0.4; printf two');
  await captured.finish('any', NEVER_MS);
  expect(captured.stdout().text).toBe('onetwo');
  expect(Buffer.concat(writers.stdout.taken).toString()).toBe('onetwo');
});

it('a capture of a silent program that holds its streams waits for the given time', async () => {
  const { captured, flag } = capture(HELD);
  blockUntilThere(flag);
  const started = performance.now();
  await captured.finish('any', 300);
  expect(performance.now() - started).toBeGreaterThanOrEqual(295);
  expect(child?.exitCode).toBeNull();
  expect([captured.stdout().bytes, captured.stderr().bytes]).toEqual([60_000, 50_000]);
});
