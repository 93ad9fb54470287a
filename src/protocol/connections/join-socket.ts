import type { Socket } from 'node:net';
import type { StreamReader, StreamWriter } from '../channel/channel.ts';

/** A socket that is joined to two streams of the channel. */
export interface JoinedSocket {
  /** Reads the stream from the other side. Bytes for a socket that is gone are dropped. */
  reader: StreamReader;
  /** The other side has broken the connection. */
  reset(): void;
}

/** Events of a joined socket. */
export interface JoinedSocketEvents {
  /** The socket is gone before the end of both streams: the other side must be told. */
  onReset(): void;
  /** Both streams have ended. */
  onOver(): void;
  /** Destroys the socket in the way of its kind. */
  breakOff(): void;
}

/**
 * Copies the bytes of a socket to a stream and those of another stream to the socket, each as fast as its reader reads. Each direction ends by
 * itself.
 *
 * @param socket with `allowHalfOpen`
 */
export function joinSocket(
  socket: Socket,
  writer: StreamWriter,
  { onReset, onOver, breakOff }: JoinedSocketEvents,
): JoinedSocket {
  let isWritten = false;
  let isRead = false;
  let isReset = false;
  /** Lets the stream go on after the socket has drained, or is gone. */
  let goOn: (() => void) | undefined;

  const settle = (): void => {
    if (isWritten && isRead) onOver();
  };
  const endStream = (): void =>
    writer.end(() => {
      isWritten = true;
      settle();
    });
  const release = (): void => {
    goOn?.();
    goOn = undefined;
  };
  socket.on('data', (chunk: Buffer) => {
    socket.pause();
    void writer.write(chunk).then(() => socket.resume());
  });
  socket.on('end', endStream);
  socket.on('drain', release);
  // The close follows.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    release();
    if (!isReset && !(isRead && socket.readableEnded)) {
      isReset = true;
      onReset();
    }
    endStream();
  });

  return {
    reader: {
      data(chunk) {
        if (socket.destroyed || socket.write(chunk)) return undefined;
        return new Promise((resolve) => (goOn = chain(goOn, resolve)));
      },
      end() {
        isRead = true;
        socket.end();
        settle();
      },
    },
    reset() {
      isReset = true;
      breakOff();
      // A socket that was closed already has no further event.
      endStream();
    },
  };
}

function chain(first: (() => void) | undefined, second: () => void): () => void {
  return () => {
    first?.();
    second();
  };
}
