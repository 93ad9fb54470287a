/** The sandbox's end of a channel: measures the round trip of a control message, alone and beside writing streams. */
import { Socket } from 'node:net';
import { createChannel } from '../src/protocol/channel/channel.ts';

/** Messages of the peer. */
export type PeerMessage =
  | { type: 'ping' }
  | { type: 'streams'; streams: number[] }
  | { type: 'report'; idleMs: number; busyMs: number };

const STREAMS = 64;
const ROUND_TRIPS = 200;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

let answered = (): void => undefined;
const channel = createChannel(new Socket({ fd: 3 }), {
  onMessage: () => answered(),
  onClose: () => process.exit(),
});
const send = (message: PeerMessage): void => channel.send(message);

await roundTripMs();
const idleMs = await roundTripMs();
const writers = Array.from({ length: STREAMS }, () => channel.openStream());
send({ type: 'streams', streams: writers.map(({ number }) => number) });
for (const writer of writers) void writeOn(writer);
await roundTripMs();
send({ type: 'report', idleMs, busyMs: await roundTripMs() });

async function writeOn(writer: { write(chunk: Uint8Array): Promise<void> }): Promise<never> {
  for (;;) await writer.write(CHUNK);
}

/** The median round trip. A pause after each, so that the next finds the streams at another point. */
async function roundTripMs(): Promise<number> {
  const times: number[] = [];
  for (let made = 0; made < ROUND_TRIPS; made += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    answered = resolve;
    const started = performance.now();
    send({ type: 'ping' });
    await promise;
    times.push(performance.now() - started);
    await new Promise((done) => setTimeout(done, 1));
  }
  return times.toSorted((a, b) => a - b)[ROUND_TRIPS >> 1] ?? Number.NaN;
}
