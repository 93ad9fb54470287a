import { StringDecoder } from 'node:string_decoder';
import type { CliIo } from './cli-io.ts';
import { escapeControls, escapeJson, escapeLine } from './escape-controls.ts';
import type { Interruption } from './interruption.ts';

/** Output of a command. Each call waits until its reader has room; after an interruption, only for a moment. */
export interface CliOutput {
  /** The result proper, on stdout. */
  text(text: string): Promise<void>;
  /** One JSON document on stdout. */
  json(value: unknown): Promise<void>;
  /** One line for people, on stderr. */
  note(line: string): Promise<void>;
  /** Output of the user's program: its bytes, or escaped text for a terminal. */
  program(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** Whether people watch: stderr is a terminal. */
  readonly watched: boolean;
  /** Waits until all is handed over. */
  flush(): Promise<void>;
}

/** An interrupted command waits no longer than this for a stuck reader. */
const STUCK_MS = 500;

/** Creates the output of one command. A stream that cannot be written any more interrupts the command. */
export function createCliOutput(io: CliIo, interruption: Interruption): CliOutput {
  const { stdout, stderr } = io;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const used = new Set<CliIo['stdout']>();
  /** Streams with stuck readers, and the number of bytes that were not even handed over. */
  const stuck = new Map<CliIo['stdout'], number>();
  let isLost = false;
  const lose = (error: NodeJS.ErrnoException): void => {
    isLost = true;
    interruption.outputLost(error);
  };
  // These stay for the life of the process: a pipe may break after the last write was accepted.
  stderr.on('error', lose);
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (interruption.exitCode === undefined && error.code !== 'EPIPE') {
      stderr.write(`Cannot write the output: ${escapeLine(error.message)}\n`);
    }
    lose(error);
  });

  /** Waits until a stream drains; after an interruption, only for a moment. */
  const taken = async (stream: CliIo['stdout'], listen: (done: () => void) => void): Promise<void> => {
    const { signal } = interruption;
    const { promise, resolve } = Promise.withResolvers<void>();
    let timer: NodeJS.Timeout | undefined;
    const hurry = (): void => {
      timer = setTimeout(
        () => {
          stuck.set(stream, 0);
          resolve();
        },
        isLost ? 0 : STUCK_MS,
      );
    };
    listen(resolve);
    stream.once('close', resolve);
    if (signal.aborted) hurry();
    else signal.addEventListener('abort', hurry, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', hurry);
    stream.off('close', resolve);
  };

  const write = async (stream: CliIo['stdout'], data: string | Uint8Array): Promise<void> => {
    used.add(stream);
    const left = stuck.get(stream);
    if (left !== undefined) stuck.set(stream, left + Buffer.byteLength(data));
    else if (!stream.destroyed && !isLost && !stream.write(data)) {
      await taken(stream, (done) => void stream.once('drain', done));
    }
  };

  /** An interrupting user, too, must learn which output is missing. */
  const tellMissing = async (): Promise<void> => {
    const left = stuck.get(stdout);
    if (left === undefined || isLost) return;
    const bytes = left + stdout.writableLength;
    const message = `The reader of the output took nothing for ${STUCK_MS / 1000} s: ${bytes} bytes are not written.`;
    await write(stderr, `${message}\n`);
  };

  return {
    text: (text) => write(stdout, stdout.isTTY === true ? escapeControls(text) : text),
    json: (value) => write(stdout, `${escapeJson(JSON.stringify(value, null, 2))}\n`),
    note: (line) => write(stderr, `${escapeLine(line)}\n`),
    async program(name, bytes) {
      const stream = name === 'stdout' ? stdout : stderr;
      await write(stream, stream.isTTY === true ? escapeControls(decoders[name].write(bytes)) : bytes);
    },
    watched: stderr.isTTY === true,
    async flush() {
      // Callbacks run in order: the callback of an empty write means that all earlier writes are done, or lost.
      const finish = (stream: CliIo['stdout']): Promise<void> => taken(stream, (done) => void stream.write('', done));
      if (used.has(stdout) && !stdout.destroyed && !isLost && !stuck.has(stdout)) await finish(stdout);
      await tellMissing();
      if (used.has(stderr) && !stderr.destroyed && !isLost && !stuck.has(stderr)) await finish(stderr);
    },
  };
}
