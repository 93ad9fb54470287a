import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL, requireLevel } from '../fixtures/levels.ts';
import { startUpstream } from '../fixtures/egress/upstream.ts';

const SECRET = 'sk-live-0123456789abcdef';

/** A proxy of a company: all tunnels lead to one port of this machine. */
async function startProxy(port: number): Promise<{ url: string; asked: string[] } & AsyncDisposable> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(403).end());
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    asked.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const each of [socket, upstream]) open.add(each.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('all connections go through the proxy of the operator, under the same rules', async (context) => {
  requireLevel(context, 'namespace');
  await using upstream = await startUpstream({
    answer: (request, response) => void response.end(`got ${request.headers.authorization}`),
  });
  await using proxy = await startProxy(upstream.port);
  await using orchestrator = createOrchestrator({
    network: {
      allow: ['api.test', 'GET other.test/v1/**'],
      caFile: upstream.caFile,
      upstreamProxy: proxy.url,
      secrets: { TOKEN: { value: SECRET, hosts: ['api.test'] } },
    },
  });
  const code = `const headers = { authorization: 'Bearer ' + process.env.TOKEN };
for (const url of ['https://api.test/', 'https://other.test/v1/a', 'https://other.test/v2', 'https://closed.test/'])
  console.log((await (await fetch(url, { headers })).text()).slice(0, 60));`;
  const result = await orchestrator.exec({
    ...{ code, isolation: BEST_LEVEL, network: ['api.test', 'other.test'], secrets: ['TOKEN'] },
  });
  expect(result.stdout.text.split('\n')).toEqual([
    expect.stringMatching(/^got Bearer sk-/),
    expect.stringMatching(/^got Bearer sk-/),
    expect.stringContaining('path-not-allowed'),
    expect.stringContaining('host-not-allowed'),
    '',
  ]);
  expect(proxy.asked).toEqual(['api.test:443', 'other.test:443']);
  expect(upstream.requests.map(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toEqual([true, false]);
  expect(JSON.stringify(result)).not.toContain(SECRET);
});
