import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CONNECTION_PACE } from '../../src/protocol/channel/channel.ts';
import { FRAME_KIND } from '../../src/protocol/channel/frame.ts';
import { handOver, joinDoor } from '../fixtures/egress/joined-door.ts';
import { until } from '../fixtures/until.ts';
import { duplexPair, openEnd } from '../protocol/channel-pair.ts';
import { frameBytes } from '../protocol/frame-bytes.ts';

const echo = (socket: Socket): void => void socket.pipe(socket);

async function read(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('bytes go both ways, and each direction ends by itself', async () => {
  await using door = await joinDoor((socket) => {
    // The answer begins after the end of the question.
    void read(socket).then((asked) => socket.end(`${asked.length} bytes`));
  });
  const socket = door.connect();
  socket.end(Buffer.alloc(3 * 1024 * 1024, 'a'));
  expect((await read(socket)).toString()).toBe(`${3 * 1024 * 1024} bytes`);
});

test('many connections share the door, and those beyond the number at once wait', async () => {
  await using door = await joinDoor(echo, 4);
  const asked = Array.from({ length: 40 }, async (_, index) => {
    const socket = door.connect();
    socket.end(`question ${index}`);
    return (await read(socket)).toString();
  });
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 40 }, (_, index) => `question ${index}`));
  expect(door.host.closings).toEqual([]);
});

test('a connection that the host breaks off is reset for the program', async () => {
  await using door = await joinDoor((socket) => void socket.once('data', () => socket.resetAndDestroy()));
  const socket = door.connect();
  const failed = once(socket, 'error');
  socket.write('question');
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
});

test('a program that breaks off its connection ends that of the host, and its place is free again', async () => {
  await using door = await joinDoor((socket) => void socket.on('data', () => undefined), 1);
  for (let round = 0; round < 5; round += 1) {
    const socket = door.connect();
    socket.write('question');
    await until(() => door.sockets.length === round + 1, 'the connection');
    const ended = once(door.sockets[round] as Socket, 'end');
    socket.resetAndDestroy();
    await ended;
  }
  expect(door.host.closings).toEqual([]);
});

test('connections without a reader hold no more than their window at each end', async () => {
  const asked = Buffer.alloc(4 * 1024 * 1024);
  await using door = await joinDoor((socket) => {
    socket.pause();
    socket.write(asked);
  });
  const programs = Array.from({ length: 32 }, () => {
    const socket = door.connect();
    socket.pause();
    socket.write(asked);
    return socket;
  });
  await until(() => door.sockets.length === 32, 'all connections');
  await pause(300);
  const held = (sockets: readonly Socket[]): number =>
    sockets.reduce((sum, socket) => sum + asked.length - socket.writableLength, 0);
  // The system's own buffers of both sockets come on top.
  const most = 32 * (2 * CONNECTION_PACE.window + 6 * 1024 * 1024);
  expect(held(programs)).toBeLessThan(most);
  expect(door.host.channel.backlog + door.sandbox.channel.backlog).toBeLessThan(2 * 1024 * 1024);
});

/** A sandbox that breaks the protocol, and the end of the channel that follows. */
const BREACHES: readonly (readonly [string, (sandbox: ReturnType<typeof openEnd>) => Promise<void> | void])[] = [
  [
    'a connection beyond the number at once',
    ({ channel }) => {
      for (let count = 0; count < 33; count += 1)
        channel.send({ type: 'connection', stream: channel.openStream(CONNECTION_PACE).number });
    },
  ],
  [
    'a connection with a number that was used',
    ({ channel }) => {
      const { number } = channel.openStream(CONNECTION_PACE);
      channel.send({ type: 'connection', stream: number });
      channel.send({ type: 'connection', stream: number });
    },
  ],
  [
    'more bytes than the window',
    async ({ channel, duplex }) => {
      const { number } = channel.openStream(CONNECTION_PACE);
      channel.send({ type: 'connection', stream: number });
      // After the message is sent, and before the socket of the host is refused and drops all bytes.
      await new Promise((resolve) => process.nextTick(resolve));
      // A channel of ours would wait for credit, and refuse credit that it did not use.
      duplex.removeAllListeners('data').resume();
      const full = frameBytes(FRAME_KIND.data, 0, number, Buffer.alloc(CONNECTION_PACE.window));
      duplex.write(Buffer.concat([full, full]));
    },
  ],
];

test.for(BREACHES)('%s breaks the channel', async ([, breach]) => {
  const [inner, outer] = duplexPair();
  let take: (message: unknown) => void = () => undefined;
  const host = openEnd(outer, { onMessage: (message) => take(message) });
  take = handOver(host.channel);
  const sandbox = openEnd(inner);
  await breach(sandbox);
  await until(() => host.closings.length > 0, 'the end of the channel');
  await turn();
  expect(host.closings).toEqual([expect.any(Error)]);
  sandbox.channel.close();
});
