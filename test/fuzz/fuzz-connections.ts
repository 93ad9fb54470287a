import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import * as z from 'zod/mini';
import { CONNECTION_PACE } from '../../src/protocol/channel/channel.ts';
import { sandboxMessageSchema } from '../../src/protocol/messages/message-schema.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { handOver, joinDoor } from '../fixtures/egress/joined-door.ts';
import { duplexPair, openEnd } from '../protocol/channel-pair.ts';
import { settled, someBytes } from './fuzz-parts.ts';

/** Connections of programs: whole connections arrive whole beside broken ones, and a sandbox that breaks the protocol ends its channel once. */
export async function fuzzConnections(random: SeededRandom): Promise<void> {
  if (random.between(0, 1) === 0) await converse(random);
  else await breach(random);
}

async function converse(random: SeededRandom): Promise<void> {
  await using door = await joinDoor((socket) => void socket.pipe(socket), random.pick([1, 3, 32]));
  const talk = async (): Promise<void> => {
    const socket = door.connect();
    const asked = someBytes(random, random.pick([0, 1, 500, 70_000, 400_000]));
    const isBroken = random.between(0, 3) === 0;
    for (const piece of [asked.subarray(0, asked.length / 3), asked.subarray(asked.length / 3)]) socket.write(piece);
    if (isBroken) {
      await settled(random.between(0, 3));
      if (random.between(0, 1) === 0) socket.destroy();
      else socket.resetAndDestroy();
      return;
    }
    socket.end();
    assert.ok((await read(socket)).equals(asked), 'an answer arrived otherwise');
  };
  await Promise.all(Array.from({ length: random.between(1, 10) }, talk));
  assert.deepEqual(door.host.closings, []);
  assert.deepEqual(door.sandbox.closings, []);
}

async function read(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** A sandbox that sends any messages and bytes of connections. */
async function breach(random: SeededRandom): Promise<void> {
  const [inner, outer] = duplexPair();
  const host = openEnd(outer, {
    onMessage(message) {
      const parsed = z.safeParse(sandboxMessageSchema, message);
      if (!parsed.success) throw new Error('a message of no known form');
      take(parsed.data);
    },
  });
  const take = handOver(host.channel, random.pick([1, 4, 32]));
  const { channel } = openEnd(inner);
  for (let step = random.between(1, 12); step > 0; step -= 1) {
    const writer = channel.openStream(
      random.pick([CONNECTION_PACE, { window: 2 * CONNECTION_PACE.window, shared: true }]),
    );
    const number = random.pick([writer.number, writer.number, writer.number, 1, 0, -1, 2 ** 32, 'a']);
    const kind = random.between(0, 3);
    if (kind <= 1) channel.send({ type: 'connection', stream: number });
    else channel.send({ type: 'reset', of: number, ...(kind === 3 ? { more: 1 } : {}) });
    if (random.between(0, 1) === 0) void writer.write(someBytes(random, random.pick([1, 1_000, 300_000])));
    if (random.between(0, 1) === 0) writer.end();
    await settled();
  }
  channel.close();
  await settled(5);
  assert.ok(host.closings.length <= 1, 'the channel was closed more than once');
}
