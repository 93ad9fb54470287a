import { Buffer } from 'node:buffer';
import { fstatSync } from 'node:fs';
import { Writable, type WritableOptions } from 'node:stream';
import { writeWhole } from '../reports.ts';

const OPTIONS: WritableOptions = { decodeStrings: false };
const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** Internals of a stream that Node's types omit. */
interface StreamInternals {
  WritableState: new (options: WritableOptions, stream: Writable, isDuplex: boolean) => unknown;
}

/** A standard stream of a session: a write is in the pipe when the call returns, even if an interrupt stops it half way. */
class WholeOutput extends Writable {
  readonly fd: number;

  constructor(fd: number) {
    super(OPTIONS);
    this.fd = fd;
    Object.assign(this, { _type: 'pipe', _isStdio: true, destroySoon: this.destroy.bind(this) });
  }

  /** No data waits between two calls. If some does, an interrupt ended an earlier call, and all later output would wait behind it. */
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

  /** Like Node's own standard streams: a stream whose descriptor stays open cannot be destroyed. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
    (this as unknown as { _undestroy(): void })._undestroy();
  }
}

/** Replaces Node's streams to a pipe or a socket by streams that write at once. */
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
    // The descriptor is closed; Node uses a stream there that discards all output.
    return false;
  }
}
