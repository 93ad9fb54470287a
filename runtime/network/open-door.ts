import { createServer, type Socket } from 'node:net';
import { CONNECTION_PACE, type Channel } from '../../src/protocol/channel/channel.ts';
import { joinSocket, type JoinedSocket } from '../../src/protocol/connections/join-socket.ts';
import type { HostMessage, SandboxMessage } from '../../src/protocol/messages/messages.ts';

/** Programs that connect beyond this number are refused, beside those under way. */
const MOST_WAITING = 256;

/** The way out of the sandbox: a port of the loopback interface whose connections end at the host. */
export interface Door {
  /** Takes the host's answer to a connection, or its reset. */
  take(message: HostMessage & { type: 'connection' | 'reset' }): void;
  /** Accepts no further connection. */
  close(): void;
}

/** Options of {@link openDoor}. */
export interface DoorOptions {
  channel: Channel;
  /** Port of 127.0.0.1. */
  port: number;
  /** Most connections at once; further ones wait. */
  connections: number;
}

/**
 * Listens for connections of programs, and copies their bytes to the host and back. The supervisor reads none of them: the host alone understands
 * HTTP and TLS.
 */
export async function openDoor({ channel, port, connections }: DoorOptions): Promise<Door> {
  const open = new Map<number, JoinedSocket>();
  const waiting = new Set<Socket>();
  const send = (message: SandboxMessage): void => channel.send(message);

  const admit = (socket: Socket): void => {
    const writer = channel.openStream(CONNECTION_PACE);
    const { number } = writer;
    send({ type: 'connection', stream: number });
    const joined = joinSocket(socket, writer, {
      onReset: () => send({ type: 'reset', of: number }),
      // The program gets ECONNRESET: its answer is not whole.
      breakOff: () => socket.resetAndDestroy(),
      onOver() {
        open.delete(number);
        const [next] = waiting;
        if (next !== undefined) admitWaiting(next);
      },
    });
    open.set(number, joined);
    socket.resume();
  };
  const admitWaiting = (socket: Socket): void => {
    waiting.delete(socket);
    socket.removeAllListeners();
    admit(socket);
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    if (open.size < connections) return admit(socket);
    if (waiting.size >= MOST_WAITING) return socket.resetAndDestroy();
    waiting.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => waiting.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  server.on('error', () => undefined);

  return {
    take(message) {
      const joined = open.get(message.of);
      if (message.type === 'connection' && joined !== undefined)
        channel.receive(message.stream, joined.reader, CONNECTION_PACE);
      // The connection may have ended here in the meantime.
      else joined?.reset();
    },
    close: () => void server.close(),
  };
}
