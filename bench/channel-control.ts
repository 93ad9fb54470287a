import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createChannel } from '../src/protocol/channel/channel.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import type { PeerMessage } from './channel-peer.ts';
import { measurementOf, type Measurement, numbersOf } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'channel.control';
const ROUNDS = 5;
const peer = fileURLToPath(new URL('channel-peer.ts', import.meta.url));

interface RoundTrips {
  idleMs: number;
  busyMs: number;
}

/** Round trip of a control message between two processes, with and without 64 streams that write at full speed. */
export const channelControl: BenchmarkGroup = { ids: [ID], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const sample = async (): Promise<RoundTrips> => {
    const taken = await roundTrips();
    progress(`idle ${taken.idleMs.toFixed(3)} ms, busy ${taken.busyMs.toFixed(3)} ms`);
    return taken;
  };
  const trips = (await takeTurns([{ id: ID, sample }], samples, () => undefined)).get(ID);
  const baseline = { id: 'channel.control.idle', values: numbersOf(trips, ({ idleMs }) => idleMs) };
  const values = numbersOf(trips, ({ busyMs }) => busyMs);
  return [measurementOf({ id: ID, unit: 'ms', goal: 'median ≤ 3 × idle + 2 ms', values, baseline })];
}

async function roundTrips(): Promise<RoundTrips> {
  const child = spawn(process.execPath, [peer], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  const { promise, resolve, reject } = Promise.withResolvers<RoundTrips>();
  const channel = createChannel(child.stdio[3] as unknown as Duplex, {
    onMessage(given) {
      const message = given as PeerMessage;
      if (message.type === 'ping') channel.send({ type: 'pong' });
      else if (message.type === 'report') resolve(message);
      else
        for (const number of message.streams) channel.receive(number, { data: () => undefined, end: () => undefined });
    },
    onClose: (error) => reject(error ?? new Error('Cannot measure: the peer ended early.')),
  });
  try {
    return await promise;
  } finally {
    channel.close();
    child.kill('SIGKILL');
  }
}
