/** A TLS host for the benchmarks of the network, in a process of its own. Prints its port and the certificate of its authority as a line of JSON. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createAuthority } from '../src/egress/certificates/create-authority.ts';

const CHUNK = Buffer.alloc(64 * 1024, 'The quick brown fox jumps over the lazy dog. ');
const CHUNKS_PER_MIB = 16;

const authority = await createAuthority();
// Clients without a sandbox use the address, which they do not name in the handshake.
const secureContext = await authority.contextFor('127.0.0.1');
const named = await authority.contextFor('bench.test');
const http = createServer((request, response) => {
  const mib = /^\/bulk\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (mib === undefined) response.end('{"answer":42}');
  else void send(response, Number(mib) * CHUNKS_PER_MIB);
});
const server = createTcpServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  const secure = new TLSSocket(socket, {
    ...{ isServer: true, secureContext, ALPNProtocols: ['http/1.1'] },
    SNICallback: (_name, answer) => answer(null, named),
  });
  secure.on('error', () => socket.destroy());
  http.emit('connection', secure);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port, pem: authority.pem })}\n`);
});
// Ends with the process that started it.
process.stdin.on('end', () => process.exit(0)).resume();

async function send(response: ServerResponse, chunks: number): Promise<void> {
  response.setHeader('content-length', chunks * CHUNK.length);
  const left = once(response, 'close');
  for (let sent = 0; sent < chunks && !response.destroyed; sent += 1)
    if (!response.write(CHUNK)) await Promise.race([left, new Promise((resolve) => response.once('drain', resolve))]);
  response.end();
}
