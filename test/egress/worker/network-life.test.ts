import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_BYTES } from '../../../src/egress/worker/worker-messages.ts';
import { type DoorScene, openDoorScene, verdict, whole } from '../../fixtures/egress/door-scene.ts';
import { startUpstream, type Upstream } from '../../fixtures/egress/upstream.ts';
import { until } from '../../fixtures/until.ts';

let upstream: Upstream;
/** Connections of an upstream that drips one byte and then waits. */
const dripping = new Set<Socket>();
let slow: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  slow = await startUpstream({
    raw(socket) {
      dripping.add(socket);
      socket.on('close', () => dripping.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('/body')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\nx');
        else if (chunk.toString().includes('/head')) socket.write('HTTP/1.1 200 O');
      });
    },
  });
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await slow[Symbol.asyncDispose]();
});

async function another({ egress }: DoorScene): Promise<{ ask(): Promise<string>; close(): Promise<void> }> {
  const rules = [{ text: 'x', scheme: 'http', host: 'plain.test', below: false, port: upstream.plainPort }] as const;
  const job = await egress.open(
    {
      jobId: 'job-2',
      rules: [...rules],
      secrets: [],
      awsKeys: [],
      registries: [],
      limits: { connections: 32, requests: 99, bytesIn: 1e6, bytesOut: 1e6 },
    },
    { onRow: () => undefined, onFault: () => undefined },
  );
  return {
    async ask() {
      const socket = job.connect();
      const host = `plain.test:${upstream.plainPort}`;
      socket.write(`GET http://${host}/ HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
      return verdict(await whole(socket));
    },
    close: () => job.close(),
  };
}

describe('P19 slow connections', () => {
  const halves = {
    'a half token': (door: DoorScene) => door.job.connect(),
    'a half head': async (door: DoorScene) => started(door.job.connect(), 'GET / HT'),
    'a tunnel without a byte': (door: DoorScene) => door.tunnel('api.test:443'),
    'a half handshake': async (door: DoorScene) => started(await door.tunnel('api.test:443'), '\x16\x03'),
    'a half body': async (door: DoorScene) =>
      started(
        await door.secure(`api.test:${upstream.port}`),
        `POST / HTTP/1.1\r\nhost: api.test:${upstream.port}\r\ncontent-length: 99\r\n\r\nx`,
      ),
  };
  const started = (socket: Socket, text: string): Socket => {
    socket.write(Buffer.from(text, 'latin1'));
    return socket;
  };

  it('of a program end with its job, and hold up no other request', async () => {
    await using door = await openDoorScene(upstream);
    const sockets: Socket[] = [];
    for (const open of Object.values(halves)) for (let count = 0; count < 6; count += 1) sockets.push(await open(door));
    let closed = 0;
    for (const socket of sockets) void whole(socket).then(() => (closed += 1));
    expect(verdict(await door.ask('api.test'))).toBe('200');
    expect(closed).toBe(0);
    await door.job.close();
    await until(() => closed === sockets.length, 'an end of all connections');
  });

  it('of hosts end with the job, each with its row', async () => {
    await using door = await openDoorScene(slow);
    for (const path of ['/head', '/body'])
      for (let count = 0; count < 8; count += 1) {
        const socket = await door.secure(`api.test:${slow.port}`);
        socket.write(`GET ${path} HTTP/1.1\r\nhost: api.test:${slow.port}\r\n\r\n`);
      }
    await until(() => dripping.size === 16, 'all connections to the host');
    expect(door.rows).toEqual([]);
    await door.job.close();
    expect(door.rows).toHaveLength(16);
    await until(() => dripping.size === 0, 'an end of the connections to the host');
  });
});

describe('P28 the end of a job', () => {
  it('ends all of its connections, and none of another job', async () => {
    await using door = await openDoorScene(upstream, { rules: ['api.test:$https', 'http://plain.test:$http'] });
    const other = await another(door);
    const sockets = await Promise.all(Array.from({ length: 32 }, () => door.secure(`api.test:${upstream.port}`)));
    let closed = 0;
    for (const socket of sockets) void whole(socket).then(() => (closed += 1));
    await door.job.close();
    await until(() => closed === 32, 'an end of all connections');
    expect(await other.ask()).toBe('200');
    await other.close();
  });

  it('leaves its token without a use', async () => {
    await using door = await openDoorScene(upstream);
    const open = await door.say('GET / HTTP/1.1\r\nconnection: close\r\n\r\n');
    expect(verdict(open)).toBe('403 protocol-refused');
    await door.job.close();
    expect(await door.say('GET / HTTP/1.1\r\nconnection: close\r\n\r\n')).toBe('');
  });
});

/** The sockets on which workers of this process listen. */
function workerSockets(): string[] {
  const name = new RegExp(`\\S*-${process.pid}-\\S*egress\\S*`);
  const rows = readFileSync('/proc/net/unix', 'latin1').split('\n');
  return [...new Set(rows.flatMap((row) => name.exec(row)?.[0] ?? []))];
}

describe('P29 jobs of one worker', () => {
  it('a connection with the token of no job is ended without an answer', async () => {
    const before = workerSockets();
    await using door = await openDoorScene(upstream);
    const [path = '', ...others] = workerSockets().filter((each) => !before.includes(each));
    expect(others).toEqual([]);
    // Only this user may connect at all.
    expect(statSync(dirname(path)).mode & 0o077).toBe(0);
    const request = 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n';
    const asked = async (token: Buffer): Promise<string> => {
      const socket = connect({ path, allowHalfOpen: true });
      socket.end(Buffer.concat([token, Buffer.from(request)]));
      return await whole(socket);
    };
    const tokens = [Buffer.alloc(TOKEN_BYTES), randomBytes(TOKEN_BYTES), Buffer.from(request.repeat(9))];
    for (const token of tokens) expect(await asked(token)).toBe('');
    expect(await asked(Buffer.alloc(0))).toBe('');
    expect(door.rows).toEqual([]);
    const known = door.job.connect();
    known.write(request);
    expect(verdict(await whole(known))).toBe('403 protocol-refused');
    expect(door.rows).toHaveLength(1);
  });
});
