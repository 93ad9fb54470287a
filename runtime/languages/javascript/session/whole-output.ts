import { Buffer } from 'node:buffer';
import { fstatSync } from 'node:fs';
import { Writable, type WritableOptions } from 'node:stream';
import { writeWhole } from '../reports.ts';

const OPTIONS: WritableOptions = { decodeStrings: false };
const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** Internals of a stream that Node's types leave out. */
interface StreamInternals {
  WritableState: new (options: WritableOptions, stream: Writable, isDuplex: boolean) => unknown;
}

/** A standard stream of a session: a write is in the pipe when the call returns, also when an interrupt stops it half way. */
class WholeOutput extends Writable {
  readonly fd: number;

  constructor(fd: number) {
    super(OPTIONS);
    this.fd = fd;
    Object.assign(this, { _type: 'pipe', _isStdio: true, destroySoon: this.destroy.bind(this) });
  }

  /** Nothing waits between two calls. Where something does, an interrupt ended the call before, and all later output would wait behind it. */
  override write(...given: unknown[]): boolean {
    if (this.writableLength > 0 && this.writableCorked === 0) {
      const { WritableState } = Writable as unknown as StreamInternals;
      Object.assign(this, { _writableState: new WritableState(OPTIONS, this, false) });
    }
    return (super.write as (...values: unknown[]) => boolean)(...given);
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: (error?: Error) => void): void {
    try {
      writeWhole(this.fd, typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  /** As with Node's own: the stream of a descriptor that lives on cannot be destroyed. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
    (this as unknown as { _undestroy(): void })._undestroy();
  }
}

/** Puts streams that write at once in the place of Node's own, where those would write to a pipe or a socket. */
export function replaceStandardStreams(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const fd = DESCRIPTORS[name];
    if (!carriesBytes(fd)) continue;
    const stream = new WholeOutput(fd);
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream });
  }
}

function carriesBytes(fd: number): boolean {
  try {
    const status = fstatSync(fd);
    return status.isFIFO() || status.isSocket();
  } catch {
    // Closed; Node puts a stream there that takes everything.
    return false;
  }
}
