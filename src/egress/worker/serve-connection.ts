import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { DEFAULT_PORTS } from '../rules/checked-rule.ts';
import type { NetworkGate } from '../rules/network-gate.ts';
import { readAuthority } from '../rules/read-authority.ts';
import type { JobState } from './job-state.ts';

/** Most bytes of the headers of a request. */
const HEADER_BYTES = 64 * 1024;
const UNLIMITED_HEADER_BYTES = 1024 * 1024;
/** Milliseconds without a byte until a connection ends. */
const IDLE_MS = 60_000;
/** Milliseconds until a tunnel must have begun. */
const HANDSHAKE_MS = 10_000;
/** Requests of one connection that may wait for their answers: few programs send a request before the answer to the last one. */
const MOST_WAITING = 4;
/** As programs name them in a TLS handshake. */
const PROTOCOLS = ['http/1.1', 'http/1.0'];
/** First byte of a TLS connection: a handshake record. */
const HANDSHAKE = 0x16;
/** First bytes of a request: a method is a token, in practice of letters. */
const LETTER = /[A-Za-z]/;

/** The place at the other end of a tunnel. */
export interface Tunnel {
  host: string;
  port: number;
  /** The name that the program asked for in its TLS handshake; undefined without one. */
  name: string | undefined;
  isTls: boolean;
}

/** A request of a program. */
export interface ProgramRequest {
  request: IncomingMessage;
  response: ServerResponse;
  state: JobState;
  /** Undefined for a request to the door itself. */
  tunnel: Tunnel | undefined;
}

/** Reads the HTTP of the connections of programs. */
export interface ConnectionServer {
  /** Takes a connection of a job, of which nothing is read yet but its token. */
  serve(socket: Socket, state: JobState): void;
}

/** Options of {@link createConnectionServer}. */
export interface ConnectionServerOptions {
  /** Gates to leave out. */
  without: readonly NetworkGate[];
  answer(asked: ProgramRequest): void;
  /** Records a connection that carries no request that could be answered. */
  refuse(state: JobState, tunnel: Tunnel | undefined, what: string): void;
}

interface Connection {
  state: JobState;
  tunnel: Tunnel | undefined;
  /** Requests without a whole answer. */
  waiting: number;
}

/** Creates the server. It listens on nothing: connections are handed in. */
export function createConnectionServer({ without, answer, refuse }: ConnectionServerOptions): ConnectionServer {
  const known = new WeakMap<object, Connection>();
  const of = (socket: object): Connection => {
    const connection = known.get(socket);
    if (connection === undefined) throw new Error('a request on an unknown connection');
    return connection;
  };
  const server: Server = createServer({
    maxHeaderSize: without.includes('headers') ? UNLIMITED_HEADER_BYTES : HEADER_BYTES,
    insecureHTTPParser: without.includes('strict-http'),
    // Requests are checked with all their headers.
    requireHostHeader: false,
    keepAliveTimeout: IDLE_MS,
    requestTimeout: 0,
    headersTimeout: 0,
  });
  // Without a listener, the server ends a connection after this time without a byte.
  server.timeout = IDLE_MS;
  server.on('request', (request, response) => {
    const { socket } = request;
    // The parser goes on to the end of the bytes that had arrived.
    if (socket.destroyed) return;
    const connection = of(socket);
    const { state, tunnel } = connection;
    connection.waiting += 1;
    response.on('close', () => (connection.waiting -= 1));
    // Others may wait at the door, so idle connections never take all places.
    if (state.sockets.size >= state.job.limits.connections) response.shouldKeepAlive = false;
    if (connection.waiting > MOST_WAITING && !without.includes('pipeline')) {
      refuse(state, tunnel, 'too many requests before their answers');
      socket.destroy();
    } else answer({ request, response, state, tunnel });
  });
  server.on('connect', (request, socket, head) => void openTunnel(request, socket as Socket, head));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { state, tunnel } = of(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    refuse(state, tunnel, 'a request that is not HTTP/1.1');
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nx-skillcell-denied: protocol-refused\r\nconnection: close\r\n\r\n`);
  });

  const openTunnel = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    const { state, tunnel: outer } = of(request.socket);
    const place = readAuthority(request.url ?? '', DEFAULT_PORTS.https);
    const fault =
      outer !== undefined && !without.includes('protocol-refused')
        ? 'a tunnel inside a tunnel'
        : place === undefined
          ? 'a tunnel to a place that can be read in two ways'
          : undefined;
    if (fault !== undefined || place === undefined) {
      refuse(state, outer, fault ?? '');
      socket.end('HTTP/1.1 403 Denied by policy: protocol-refused\r\nx-skillcell-denied: protocol-refused\r\n\r\n');
      return;
    }
    // A denied host is answered within the tunnel: most programs do not show an answer to CONNECT.
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    const first = await firstByte(socket, HANDSHAKE_MS);
    if (socket.destroyed) return;
    const tunnel: Tunnel = { ...place, name: undefined, isTls: first === HANDSHAKE };
    if (tunnel.isTls) return await acceptTls(state, tunnel, socket);
    if (first !== undefined && LETTER.test(String.fromCharCode(first))) return attach(socket, state, tunnel);
    refuse(state, tunnel, 'a tunnel that carries neither TLS nor HTTP');
    socket.destroy();
  };

  const acceptTls = async (state: JobState, tunnel: Tunnel, socket: Socket): Promise<void> => {
    const secureContext = await state.authority.contextFor(tunnel.host);
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: PROTOCOLS });
    const timer = setTimeout(() => socket.destroy(), HANDSHAKE_MS);
    secure.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ERR_SSL_NO_APPLICATION_PROTOCOL') refuse(state, tunnel, 'a protocol other than HTTP/1.1');
      // Otherwise the program has broken off the handshake, usually because it does not trust the authority.
      socket.destroy();
    });
    secure.on('close', () => clearTimeout(timer));
    secure.on('secure', () => {
      clearTimeout(timer);
      const { servername } = secure as { servername?: string | false };
      attach(secure, state, { ...tunnel, name: servername === false ? undefined : servername });
    });
  };

  const attach = (socket: Socket, state: JobState, tunnel: Tunnel | undefined): void => {
    known.set(socket, { state, tunnel, waiting: 0 });
    server.emit('connection', socket);
  };

  return { serve: (socket, state) => attach(socket, state, undefined) };
}

/** The first byte of a connection, which stays unread; undefined if none comes in time. */
async function firstByte(socket: Socket, patienceMs: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const look = (): void => {
    const bytes = socket.read(1) as Buffer | null;
    if (bytes === null) return;
    // Before the byte goes back, which makes the socket readable again.
    socket.off('readable', look);
    socket.unshift(bytes);
    resolve(bytes[0]);
  };
  const leave = (): void => resolve(undefined);
  const timer = setTimeout(leave, patienceMs);
  socket.on('readable', look).on('end', leave).on('close', leave).on('error', leave);
  look();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.off('readable', look).off('end', leave).off('close', leave).off('error', leave);
  }
}
