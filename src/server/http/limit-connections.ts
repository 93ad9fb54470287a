import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bounds of connections. */
export interface ConnectionLimits {
  /** Most connections at once. */
  most: number;
  /** Milliseconds until the head of the first request. Node's own limit begins with its first byte. */
  headMs: number;
}

/**
 * Ends connections that send nothing. At the bound, a new connection takes the place of one without a request under way: the one that has been silent
 * for the longest time, or else the one whose last request is the oldest. So silent ones keep no client out. Without such a one, the new one is
 * refused.
 */
export function limitConnections(server: Server, { most, headMs }: ConnectionLimits): void {
  const timers = new WeakMap<Socket, NodeJS.Timeout>();
  /** Connections without a request under way, in the order in which they began to wait: before their first request, and between two. */
  const [silent, idle] = [new Set<Socket>(), new Set<Socket>()];
  const forget = (socket: Socket): void => {
    silent.delete(socket);
    idle.delete(socket);
    clearTimeout(timers.get(socket));
  };
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
      forget(socket);
    });
    if (open > most) {
      const [first = socket] = silent.size > 0 ? silent : idle;
      first.destroy();
      forget(first);
      if (first === socket) return;
    }
    const end = (): void => {
      if (socket.bytesRead === 0) socket.destroy();
    };
    timers.set(socket, setTimeout(end, headMs));
    silent.add(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    forget(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
}
