import { Duplex } from 'node:stream';
import { writeTogether } from '../../../protocol/channel/write-together.ts';

/** Header before each chunk of output: stream (u8), three zeros, length (u32, big endian). */
const HEADER_BYTES = 8;
const STDOUT = 1;
const STDERR = 2;

/**
 * Turns the stream of an attached container without a terminal into a duplex of its stdin and stdout; stderr goes to
 * `onStderr`. Bytes pass at once, whatever length a header claims, so only a partial header is ever held. A loop instead of
 * recursion handles any number of tiny frames. A slow reader pauses the engine's socket.
 *
 * An invalid header destroys the duplex: the text of a terminal or a proxy has no reliable sender.
 */
export function demultiplex(attached: Duplex, onStderr: (bytes: Buffer) => void): Duplex {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerSize = 0;
  let remaining = 0;
  let stream = STDOUT;

  /** Returns false if the reader is full. */
  const take = (chunk: Buffer): boolean => {
    let room = true;
    for (let offset = 0; offset < chunk.length;) {
      if (remaining > 0) {
        const part = chunk.subarray(offset, offset + remaining);
        offset += part.length;
        remaining -= part.length;
        if (stream === STDOUT) room = duplex.push(part) && room;
        else onStderr(part);
        continue;
      }
      const copied = chunk.copy(header, headerSize, offset, offset + HEADER_BYTES - headerSize);
      headerSize += copied;
      offset += copied;
      if (headerSize < HEADER_BYTES) continue;
      headerSize = 0;
      stream = header[0] ?? 0;
      if ((stream !== STDOUT && stream !== STDERR) || header[1] !== 0 || header[2] !== 0 || header[3] !== 0) {
        duplex.destroy(new Error('Cannot read the container: the engine sent no multiplexed stream.'));
        return true;
      }
      remaining = header.readUInt32BE(4);
    }
    return room;
  };

  const duplex = new Duplex({
    read: () => attached.resume(),
    write: (chunk: Buffer, _encoding, done) => {
      attached.write(chunk, done);
    },
    // Chunks written together stay together: each single chunk would wake every process on the way.
    writev: (chunks, done) => {
      writeTogether(attached, chunks, done);
    },
    final: (done) => {
      attached.end(done);
    },
    destroy: (error, done) => {
      attached.destroy();
      done(error);
    },
  });
  attached.on('data', (chunk: Buffer) => {
    if (!duplex.destroyed && !take(chunk)) attached.pause();
  });
  attached.on('end', () => duplex.push(null));
  attached.on('close', () => duplex.destroy());
  attached.on('error', (error: Error) => duplex.destroy(error));
  return duplex;
}
