import type { Experimental_SandboxProcess as SandboxProcess } from 'ai';
import type { FailingReader } from '../../jobs/session/file-requests.ts';
import type { SandboxPort } from '../../jobs/session/sandbox-port.ts';
import { asOurs } from './as-ours.ts';
import { outputStream, type OutputStream } from './output-stream.ts';
import { startCommand, type CommandOptions, type RunningCommand } from './start-command.ts';

/** A process whose standard input may be written to. */
export type SpawnedProcess = SandboxProcess & { stdin?: WritableStream<Uint8Array> };

/** Bytes that a stream holds until it is read; then the command waits. */
const HELD_BYTES = 1024 * 1024;

/**
 * Starts a command that goes on while the session does other things.
 *
 * @param signal ends it; `wait` and both streams then fail with its reason
 */
export async function spawnCommand(
  port: SandboxPort,
  options: CommandOptions,
  signal: AbortSignal | undefined,
): Promise<SpawnedProcess> {
  signal?.throwIfAborted();
  const [stdout, stderr] = [outputStream(HELD_BYTES), outputStream(HELD_BYTES)];
  const running = await startCommand(port, options, { stdout: readerOf(stdout), stderr: readerOf(stderr) });
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const abort = (): void => {
    // oxlint-disable-next-line prefer-promise-reject-errors -- the reason is the caller's own
    aborted.reject(signal?.reason);
    stdout.fail(signal?.reason);
    stderr.fail(signal?.reason);
    running.kill(false);
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
    kill: async () => running.kill(true),
    ...(options.stdin ? { stdin: inputStream(running, options.command) } : {}),
  };
}

/** Output of a canceled stream is still taken, so that the command does not wait. */
function readerOf({ take, end, fail }: OutputStream): FailingReader {
  return { data: take, end, fail };
}

function inputStream(running: RunningCommand, command: string): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    async write(chunk) {
      try {
        await running.write(chunk);
      } catch (error) {
        throw asOurs(error, 'write to a command', command.slice(0, 200));
      }
    },
    close: running.endInput,
    abort: running.endInput,
  });
}
