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
 * Ends connections that send nothing. At the bound, a new connection takes the place of the one that has waited longest without a request, so that
 * silent ones keep nobody out. Without such a one, the new connection is refused.
 */
export function limitConnections(server: Server, { most, headMs }: ConnectionLimits): void {
  const timers = new WeakMap<Socket, NodeJS.Timeout>();
  /** Connections without a request under way, in the order in which they began to wait. */
  const waiting = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
      waiting.delete(socket);
      clearTimeout(timers.get(socket));
    });
    if (open > most) {
      const [first = socket] = waiting;
      first.destroy();
      waiting.delete(first);
      if (first === socket) return;
    }
    timers.set(
      socket,
      setTimeout(() => socket.destroy(), headMs),
    );
    waiting.add(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    clearTimeout(timers.get(socket));
    waiting.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) waiting.add(socket);
    });
  });
}
