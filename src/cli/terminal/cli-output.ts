import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import type { CliIo } from './cli-io.ts';
import { escapeControls, escapeJson, escapeLine } from './escape-controls.ts';
import type { Interruption } from './interruption.ts';

/** Where a command writes to. Each call waits until its reader has room, or the command is interrupted. */
export interface CliOutput {
  /** The result proper, on stdout. */
  text(text: string): Promise<void>;
  /** One JSON document on stdout. */
  json(value: unknown): Promise<void>;
  /** One line for people, on stderr. */
  note(line: string): Promise<void>;
  /** What the user's program wrote, byte by byte, or escaped where a terminal would act on it. */
  program(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** Whether people watch: stderr is a terminal. */
  readonly watched: boolean;
  /** Waits until all is handed over. */
  flush(): Promise<void>;
}

/** Creates the output of one command. A stream that cannot be written any more interrupts the command. */
export function createCliOutput(io: CliIo, interruption: Interruption): CliOutput {
  const { stdout, stderr } = io;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const used = new Set<CliIo['stdout']>();
  // These stay for the life of the process: a pipe may break after the last write was accepted.
  stderr.on('error', (error) => interruption.outputLost(error));
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (interruption.exitCode === undefined && error.code !== 'EPIPE') {
      stderr.write(`Cannot write the output: ${escapeLine(error.message)}\n`);
    }
    interruption.outputLost(error);
  });

  const write = async (stream: CliIo['stdout'], data: string | Uint8Array): Promise<void> => {
    used.add(stream);
    if (stream.destroyed || stream.write(data) || interruption.signal.aborted) return;
    try {
      await once(stream, 'drain', { signal: interruption.signal });
    } catch {
      // The command is interrupted, be it by the loss of this very stream: nobody waits for the rest.
    }
  };

  const finish = (stream: CliIo['stdout']): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        interruption.signal.removeEventListener('abort', done);
        resolve();
      };
      if (stream.destroyed || interruption.signal.aborted) return done();
      interruption.signal.addEventListener('abort', done, { once: true });
      // Callbacks come in order, so that of an empty write says that all before it is written, or lost.
      stream.write('', done);
    });

  return {
    text: (text) => write(stdout, stdout.isTTY === true ? escapeControls(text) : text),
    json: (value) => write(stdout, `${escapeJson(JSON.stringify(value, null, 2))}\n`),
    note: (line) => write(stderr, `${escapeLine(line)}\n`),
    async program(name, bytes) {
      const stream = name === 'stdout' ? stdout : stderr;
      if (interruption.signal.aborted) return;
      await write(stream, stream.isTTY === true ? escapeControls(decoders[name].write(bytes)) : bytes);
    },
    watched: stderr.isTTY === true,
    async flush() {
      for (const stream of used) await finish(stream);
    },
  };
}
