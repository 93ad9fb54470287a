import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { createAuthority } from '../../src/egress/certificates/create-authority.ts';

/** An API on this machine, in place of one on the internet. */
export interface ApiHost extends AsyncDisposable {
  port: number;
  /** File with the certificate of its authority. */
  caFile: string;
}

/** Starts the API: `/v1/orders` needs the bearer. Its answers repeat the header, as a careless API might. */
export async function startApiHost(bearer: string): Promise<ApiHost> {
  const authority = await createAuthority();
  const folder = await mkdtemp(join(tmpdir(), 'api-host-'));
  const caFile = join(folder, 'authority.pem');
  await writeFile(caFile, authority.pem);
  const api = createServer((request, response) => {
    const { authorization } = request.headers;
    response.statusCode = authorization === `Bearer ${bearer}` ? 200 : 401;
    response.end(JSON.stringify({ orders: response.statusCode === 200 ? 3 : null, authorization }));
  });
  const secureContext = await authority.contextFor('api.example.com');
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    api.emit('connection', new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    caFile,
    async [Symbol.asyncDispose]() {
      api.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
