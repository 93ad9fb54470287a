'use strict';
// Loaded into every Node process of user code, by NODE_OPTIONS also into those that a program starts: what it writes to
// a pipe is in the pipe when the call returns. Node itself makes a pipe non-blocking for all processes that share it, keeps what does not fit
// for later, and drops that at process.exit() or when it is too much. So stdout and stderr are what Node makes of them when they
// are files: streams over plain writes, which wait. docs/decisions/2026-11-22-output-is-written-when-the-call-returns.md
const { fstatSync, writeSync } = require('node:fs');
const { Writable } = require('node:stream');
const { isMainThread } = require('node:worker_threads');

/** How long to wait for a pipe that another process made non-blocking, and that is full. */
const FULL_MS = 1;

const OPTIONS = { decodeStrings: false };

class WholeOutput extends Writable {
  constructor(fd) {
    super(OPTIONS);
    Object.assign(this, { fd, _type: 'pipe', _isStdio: true, destroySoon: this.destroy });
  }

  /** Nothing waits to be written between two calls. Where something does, an interrupt ended the call before half way: all later output would wait behind it. */
  write(...given) {
    if (this.writableLength > 0 && this.writableCorked === 0)
      this._writableState = new Writable.WritableState(OPTIONS, this, false);
    return super.write(...given);
  }

  _write(chunk, encoding, done) {
    try {
      writeWhole(this.fd, typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    } catch (error) {
      return done(error);
    }
    done();
  }

  /** As with Node's own: the stream of a descriptor that lives on cannot be destroyed. */
  _destroy(error, done) {
    done(error);
    this._undestroy();
  }
}

/** Writes all of it before it returns, to a pipe in any state. The executor's messages go this way, too. */
function writeWhole(fd, bytes) {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_MS);
    }
  }
}

function carriesBytes(fd) {
  try {
    const status = fstatSync(fd);
    return status.isFIFO() || status.isSocket();
  } catch {
    // Closed by whoever started this process; Node puts a stream there that takes everything.
    return false;
  }
}

// A worker's streams go through the main thread's.
if (isMainThread) {
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ]) {
    if (!carriesBytes(fd)) continue;
    let stream;
    Object.defineProperty(process, name, {
      configurable: true,
      enumerable: true,
      get: () => (stream ??= new WholeOutput(fd)),
    });
  }
}

module.exports = { writeWhole };
