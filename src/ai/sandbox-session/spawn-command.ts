import type { Experimental_SandboxProcess as SandboxProcess } from 'ai';
import * as z from 'zod/mini';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { GuestLink } from './guest-link.ts';
import { asOurs } from './guest-refusal.ts';
import { startCommand, type CommandOptions, type CommandReader } from './running-command.ts';

/** A process whose standard input may be written to. */
export type SpawnedProcess = SandboxProcess & { stdin?: WritableStream<Uint8Array> };

/** Bytes that a stream holds until it is read; then the command waits. */
const HELD_BYTES = 1024 * 1024;
/** Bytes in one run's code, in base64. */
const WRITE_BYTES = 640 * 1024;
/** Bytes of standard input that the sandbox may hold while the command does not read them. */
const INPUT_BYTES = 64 * 1024;
const PAUSE_MS = 20;

const fed = z.object({ held: z.number(), fault: z.optional(z.string()) });

/**
 * Starts a command that goes on while the session does other things.
 *
 * @param signal ends it; `wait` and both streams then fail with its reason
 */
export async function spawnCommand(
  link: GuestLink,
  options: CommandOptions,
  signal: AbortSignal | undefined,
): Promise<SpawnedProcess> {
  signal?.throwIfAborted();
  const [stdout, stderr] = [outputStream(), outputStream()];
  const running = await startCommand(link, options, { stdout: stdout.reader, stderr: stderr.reader });
  stdout.onRoom = running.wake;
  stderr.onRoom = running.wake;
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const abort = (): void => {
    // oxlint-disable-next-line prefer-promise-reject-errors -- the reason is the caller's own
    aborted.reject(signal?.reason);
    stdout.reader.fail(signal?.reason);
    stderr.reader.fail(signal?.reason);
    // Waiting callers get the reason, even if the sandbox fails.
    running.end(false).catch(() => undefined);
    running.leave();
  };
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  void running.followed.then(() => signal?.removeEventListener('abort', abort));
  // The first event counts: a command that has exited is not aborted any more.
  const exited = Promise.race([aborted.promise, running.exited]);
  exited.catch(() => undefined);
  return {
    pid: running.pid,
    stdout: stdout.stream,
    stderr: stderr.stream,
    wait: async () => ({ exitCode: await exited }),
    async kill() {
      await running.end(true).catch((error: unknown) => {
        // The whole group ended with its session.
        if (!SkillcellError.isInstance(error) || error.code !== 'session.ended') throw error;
      });
    },
    ...(options.stdin ? { stdin: inputStream(link, running.id, options.command) } : {}),
  };
}

/** The output of a command, as a stream. */
interface OutputStream {
  stream: ReadableStream<Uint8Array>;
  reader: CommandReader;
  /** Called when the stream has room again. */
  onRoom(): void;
}

function outputStream(): OutputStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  const output: OutputStream = {
    stream: new ReadableStream<Uint8Array>(
      {
        start: (given) => void (controller = given),
        pull: () => output.onRoom(),
        // Canceled output is still taken, so that the command does not wait.
        cancel: () => void (isOver = true),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
    ),
    reader: {
      room: () => (isOver ? HELD_BYTES : (controller?.desiredSize ?? 0)),
      take: (bytes: Uint8Array) => void (isOver || controller?.enqueue(bytes)),
      end() {
        if (!isOver) controller?.close();
        isOver = true;
      },
      fail(error: unknown) {
        if (!isOver) controller?.error(error);
        isOver = true;
      },
    },
    onRoom: (): void => undefined,
  };
  return output;
}

function inputStream(link: GuestLink, id: number, command: string): WritableStream<Uint8Array> {
  const feed = async (base64: string, isEnd: boolean): Promise<number> => {
    const { said } = await link.ask('feed', { id, base64, isEnd }, fed).catch((error: unknown) => {
      throw asOurs(error, 'write to a command', command.slice(0, 200));
    });
    if (said.fault !== undefined) throw new Error(`Cannot write to the command: ${said.fault}`);
    return said.held;
  };
  return new WritableStream<Uint8Array>({
    async write(chunk) {
      for (let at = 0; at < chunk.length; at += WRITE_BYTES) {
        const piece = Buffer.from(chunk.subarray(at, at + WRITE_BYTES));
        let held = await feed(piece.toString('base64'), false);
        while (held > INPUT_BYTES) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
          held = await feed('', false);
        }
      }
    },
    close: async () => void (await feed('', true)),
    abort: async () => void (await feed('', true)),
  });
}
