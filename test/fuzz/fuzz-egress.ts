import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { parseNetworkRule } from '../../src/egress/rules/parse-network-rule.ts';
import { type Egress, type JobEgress, startEgress } from '../../src/egress/start-egress.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { inPieces, mutated, settled } from './fuzz-parts.ts';

const PATIENCE_MS = 10_000;
const REQUESTS: readonly [string, ...string[]] = [
  'GET http://api.test/a HTTP/1.1\r\nHost: api.test\r\n\r\n',
  'POST http://closed.test/ HTTP/1.1\r\nHost: closed.test\r\nContent-Length: 5\r\n\r\nhello',
  'POST http://closed.test/ HTTP/1.1\r\nHost: closed.test\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: 1\r\n\r\n',
  'CONNECT closed.test:443 HTTP/1.1\r\nHost: closed.test:443\r\n\r\n',
  'CONNECT [::1]:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: [::1]:443\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
  'CONNECT closed.test:80 HTTP/1.1\r\n\r\nPUT /%2e%2e/ HTTP/1.1\r\nHost: closed.test\r\nConnection: x, y\r\nX: 1\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n',
];

let started: Promise<{ egress: Egress; job: JobEgress; faults: string[] }> | undefined;

/** The worker of the network: any bytes of a program do no harm to later requests. */
export async function fuzzEgress(random: SeededRandom): Promise<void> {
  const { job, faults } = await (started ??= start());
  const socket = job.connect();
  socket.on('error', () => undefined).resume();
  const text = Array.from({ length: random.between(1, 4) }, () => random.pick(REQUESTS)).join('');
  for (const piece of inPieces(random, mutated(random, Buffer.from(text)))) socket.write(piece);
  if (random.between(0, 1) === 0) await settled(random.between(0, 3));
  else socket.end();
  if (random.between(0, 2) === 0) await hail(random, job);
  socket.destroy();
  if (random.between(0, 9) === 0) await requireAnswer(job);
  assert.deepEqual(faults, []);
}

async function start(): Promise<{ egress: Egress; job: JobEgress; faults: string[] }> {
  const allow = [parseNetworkRule('http://api.test')];
  const egress = startEgress({
    ...{ allow, allowPrivate: [], ca: undefined, upstreamProxy: undefined },
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const faults: string[] = [];
  const limits = { connections: 32, requests: 1_000_000_000, bytesIn: 2 ** 50, bytesOut: 2 ** 50 };
  const job = await egress.open(
    { jobId: 'fuzz', rules: allow, secrets: [], awsKeys: [], registries: [], limits },
    { onRow: () => undefined, onFault: (message) => void faults.push(message) },
  );
  return { egress, job, faults };
}

/** A handshake of TLS with changed bytes in it. */
async function hail(random: SeededRandom, job: JobEgress): Promise<void> {
  const socket = job.connect();
  socket.on('error', () => undefined);
  socket.write('CONNECT closed.test:443 HTTP/1.1\r\n\r\n');
  await once(socket, 'data');
  if (random.between(0, 1) === 0) {
    const secure = connectTls({
      socket,
      rejectUnauthorized: false,
      servername: random.pick(['closed.test', 'a.test', ''] as const),
    });
    secure.on('error', () => undefined);
    secure.write(mutated(random, Buffer.from(random.pick(REQUESTS))));
    await settled(2);
    secure.destroy();
  } else {
    socket.write(mutated(random, Buffer.from('16030100050100000100', 'hex')));
    await settled(1);
  }
  socket.destroy();
}

/** An ordinary request is answered: here with its denial, since its host has an address that is not public. */
async function requireAnswer(job: JobEgress): Promise<void> {
  const socket: Socket = job.connect();
  socket.write('GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end', { signal: AbortSignal.timeout(PATIENCE_MS) });
  socket.destroy();
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 403 Denied by policy: address-blocked/);
}
