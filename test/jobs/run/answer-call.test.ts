import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Broker } from '../../../src/tools/calls/broker.ts';
import type { BrokerReply } from '../../../src/tools/calls/broker-call.ts';
import { answerCall } from '../../../src/jobs/run/answer-call.ts';
import { createLimiter } from '../../../src/protocol/limiter.ts';
import type { Channel, StreamReader } from '../../../src/protocol/channel/channel.ts';

const MIB = 1024 * 1024;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A host with this broker. */
function host(
  call: Broker['call'],
  more: Partial<Channel> = {},
): {
  announce(id: number, bytes: number, stream: number): Promise<void>;
  readers: Map<number, StreamReader>;
} {
  const readers = new Map<number, StreamReader>();
  const channel = {
    sendPacked: () => undefined,
    receive: (stream: number, reader: StreamReader) => void readers.set(stream, reader),
    ...more,
  } as unknown as Channel;
  const traffic = {
    channel,
    broker: { call } as Broker,
    results: createLimiter({ room: 32 * MIB }),
    arriving: { bytes: 0 },
  };
  return {
    readers,
    announce: (id, bytes, stream) =>
      answerCall(
        traffic,
        { id, target: 'tool', name: 'x', json: Buffer.from('null'), places: [{ path: [], bytes, stream }] },
        new AbortController().signal,
      ),
  };
}

/** Bytes that are still referenced. */
const held = async (): Promise<number> => {
  // The memory of a buffer is freed some time after the buffer itself.
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

describe('answerCall()', () => {
  it('keeps no bytes of a refused call', async () => {
    const refused: BrokerReply = { ok: false, error: { code: 'tool.not-allowed', message: 'no' } };
    const { announce, readers } = host(() => Promise.resolve(refused));
    const before = await held();
    for (let id = 1; id <= 30; id += 1) {
      await announce(id, 8 * MIB, id);
      for (let sent = 0; sent < 7; sent += 1) void readers.get(id)?.data(Buffer.alloc(MIB));
    }
    expect((await held()) - before).toBeLessThan(64 * MIB);
  });

  it.each([
    ['sent', async () => undefined],
    ['lost with the channel', async () => Promise.reject(new Error('closed'))],
  ])('reports when the bytes of an answer are %s', async (_name, write) => {
    const sent: string[] = [];
    const parts = [Buffer.from('a'), Buffer.from('b')];
    const places = parts.map((part, index) => ({ path: [index], bytes: part.length }));
    const reply: BrokerReply = { ok: true, value: [null, null], places, parts, sent: () => void sent.push('sent') };
    const writer = { number: 1, write: async () => (sent.push('write'), await write()), end: () => undefined };
    const { announce } = host(() => Promise.resolve(reply), { openStream: () => writer });
    await announce(1, 0, 1).catch(() => undefined);
    expect(sent).toEqual(['write', 'write', 'sent']);
  });

  it('collects bytes that arrive one by one without extra memory', async () => {
    let whole: Uint8Array[] = [];
    const { announce, readers } = host(async (_call, { bytes }) => {
      whole = (await bytes?.parts) ?? [];
      return { ok: true, value: null };
    });
    const before = await held();
    const answered = announce(1, MIB, 1);
    const wire = Buffer.alloc(64 * 1024, 5);
    for (let at = 0; at < MIB; at += 1) {
      void readers.get(1)?.data(wire.subarray(at % wire.length, (at % wire.length) + 1));
    }
    expect((await held()) - before).toBeLessThan(32 * MIB);
    readers.get(1)?.end();
    await answered;
    expect(whole.map((part) => Buffer.from(part).equals(Buffer.alloc(MIB, 5)))).toEqual([true]);
  });

  it('refuses a call with more bytes than a program may send', async () => {
    const { announce } = host(() => new Promise(() => undefined));
    expect(() => announce(1, 8 * MIB + 1, 1)).toThrow('more bytes than a program may send');
    const again = host(() => new Promise(() => undefined));
    for (let id = 1; id <= 5; id += 1) void again.announce(id, 8 * MIB, id);
    expect(() => again.announce(6, 1, 6)).toThrow('more bytes than a program may send');
  });
});
