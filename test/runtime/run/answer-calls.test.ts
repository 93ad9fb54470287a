import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { answerCalls, type CallAnswers } from '../../../runtime/run/program/answer-calls.ts';
import type { RelayedCall } from '../../../runtime/run/call-port.ts';
import { connectExecutor } from '../../../runtime/run/program/executor-link.ts';
import type { StreamedBytes } from '../../../src/protocol/messages/messages.ts';
import { packAnswer, packCall, readAnswer } from '../../../src/protocol/channel/packed-call.ts';

const MIB = 1024 * 1024;
const ANSWER = readAnswer(packAnswer(1, true, { json: 'null' }));

/** The calls of a program whose host answers on the test's command. */
function program(): {
  calls: CallAnswers;
  call(id: number, places: StreamedBytes[]): void;
  relayed: RelayedCall[];
  faults: number;
} {
  const input = new PassThrough();
  const link = connectExecutor(input, new PassThrough().resume(), 8 * MIB);
  const relayed: RelayedCall[] = [];
  const seen = { faults: 0 };
  const port = {
    call: () => Promise.reject(new Error('not for programs')),
    relay(call: RelayedCall) {
      relayed.push(call);
      return call.places.map((_place, number) => ({ number, write: async () => undefined, end: () => undefined }));
    },
  };
  const limit = { refusals: 100, onExhausted: () => undefined, onFault: () => void (seen.faults += 1) };
  const calls = answerCalls(port, link, limit);
  link.onCall = (bytes) => calls.take(bytes);
  const write = (body: Buffer): void => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(body.length);
    input.write(Buffer.concat([header, body]));
  };
  return {
    calls,
    relayed,
    call: (id, places) => write(packCall(id, 'tool', 'echo', { places: JSON.stringify(places), json: '[null,null]' })),
    get faults() {
      return seen.faults;
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('answerCalls()', () => {
  it('never announces more bytes than a host takes, even if many small calls are answered meanwhile', async () => {
    const { call, relayed } = program();
    for (let id = 1; id <= 40; id += 1) call(id, id % 2 === 0 ? [{ path: [0], bytes: 8 * MIB, stream: id }] : []);
    await settled();
    const announced = (): number => relayed.reduce((sum, { places }) => sum + (places[0]?.bytes ?? 0), 0);
    let answered = 0;
    for (let round = 0; round < 10; round += 1) {
      const fresh = relayed.slice(answered);
      answered = relayed.length;
      for (const { onAnswer, places } of fresh) if (places.length === 0) onAnswer(ANSWER);
      await settled();
    }
    expect(announced()).toBe(32 * MIB);
    // A finished call makes room for the next.
    relayed.find(({ places }) => places.length > 0)?.onAnswer(ANSWER);
    await settled();
    expect(announced()).toBe(40 * MIB);
  });

  it('refuses a call that gives one number to two parts', async () => {
    const seen = program();
    seen.call(1, [
      { path: [0], bytes: 1, stream: 1 },
      { path: [1], bytes: 1, stream: 1 },
    ]);
    await settled();
    expect([seen.faults, seen.relayed.length]).toEqual([1, 0]);
  });
});
