import type { FailingReader } from '../../jobs/session/file-requests.ts';
import type { SandboxPort } from '../../jobs/session/sandbox-port.ts';
import { addPiece } from '../../protocol/channel/add-piece.ts';
import { startCommand, type CommandOptions } from './start-command.ts';

/** The result of a command. */
export interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The most output of a command, of both streams together. */
const OUTPUT_BYTES = 32 * 1024 * 1024;
/** How long the output of a killed command may take, with the grace of the kill: the sandbox could withhold it. */
const END_MS = 4_000;
/** How long processes that a command left behind may still add to its output. bash does not wait for `>(tee log.txt)`. */
const LEFT_MS = 250;

/**
 * Runs a command to its end, and returns its output as UTF-8. A command that a limit ended is a normal result, with a line in its standard error.
 *
 * @param limitMs time of the command
 * @param signal ends the command; its reason is thrown
 */
export async function runCommand(
  port: SandboxPort,
  options: CommandOptions,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal | undefined },
): Promise<CommandResult> {
  signal?.throwIfAborted();
  let notice = '';
  let bytes = 0;
  let hasExited = false;
  let hasPrinted = false;
  let stop: (why: string) => void = (why) => (notice ||= why);
  const onBytes = (count: number): void => {
    bytes += count;
    if (bytes > OUTPUT_BYTES && !hasPrinted) stop(`it printed more than ${OUTPUT_BYTES} bytes`);
  };
  const [stdout, stderr] = [collect(onBytes), collect(onBytes)];
  const running = await startCommand(port, options, { stdout, stderr });
  const aborted = Promise.withResolvers<never>();
  const late = Promise.withResolvers<void>();
  let lateTimer: NodeJS.Timeout | undefined;
  const end = (): void => {
    // The processes that it left behind go on.
    if (!hasExited) running.kill(true);
    lateTimer = setTimeout(late.resolve, END_MS);
  };
  stop = (why) => {
    if (notice === '') end();
    notice ||= why;
  };
  if (notice !== '') end();
  const abort = (): void => {
    // oxlint-disable-next-line prefer-promise-reject-errors -- the reason is the caller's own
    aborted.reject(signal?.reason);
    running.kill(false);
    running.leave();
  };
  const timer = setTimeout(() => stop(`it took longer than ${limitMs / 1000} s`), limitMs);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  try {
    const exitCode = await Promise.race([aborted.promise, running.exited]);
    hasExited = true;
    const printed = running.printed.then(() => {
      hasPrinted = true;
      return afterGrace();
    });
    await Promise.race([running.followed, printed, aborted.promise, late.promise]);
    running.leave();
    const line = notice === '' ? '' : `\nskillcell: the command was ended: ${notice}\n`;
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() + line };
  } finally {
    clearTimeout(timer);
    clearTimeout(lateTimer);
    signal?.removeEventListener('abort', abort);
  }
}

function afterGrace(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LEFT_MS).unref());
}

function collect(onBytes: (count: number) => void): FailingReader & { text(): string } {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    data(chunk) {
      onBytes(chunk.length);
      if (size > OUTPUT_BYTES) return;
      size += chunk.length;
      addPiece(chunks, chunk);
    },
    end: () => undefined,
    fail: () => undefined,
    text: () => Buffer.concat(chunks).toString(),
  };
}
