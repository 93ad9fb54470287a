import { describe, expect, it } from 'vitest';
import { readSandboxCall } from '../../src/protocol/messages/message-schema.ts';
import type { SandboxCall } from '../../src/protocol/messages/messages.ts';
import { packAnswer, packCall } from '../../src/protocol/channel/packed-call.ts';

const call = packCall(1, 'tool', 'add', { json: '[1]' });
const placed = (places: string): Buffer => packCall(1, 'tool', 'add', { places, json: 'null' });
/** A call with changed bytes at an offset. */
const changed = (at: number, ...bytes: number[]): Buffer => {
  const copy = Buffer.from(call);
  copy.set(bytes, at);
  return copy;
};
const shown = ({ json, ...rest }: SandboxCall): object => ({ ...rest, json: Buffer.from(json).toString() });

describe('a call of a sandbox', () => {
  it('is accepted with and without arguments and bytes, and with any JSON', () => {
    expect(shown(readSandboxCall(call))).toEqual({ id: 1, target: 'tool', name: 'add', places: [], json: '[1]' });
    const without = packCall(2 ** 32 - 1, 'host', 'x'.repeat(200), {});
    expect(shown(readSandboxCall(without))).toEqual({
      ...{ id: 2 ** 32 - 1, target: 'host', name: 'x'.repeat(200), places: [], json: '' },
    });
    const places = [{ path: ['a', 0], bytes: 5, stream: 7 }];
    expect(shown(readSandboxCall(placed(JSON.stringify(places))))).toMatchObject({ places, json: 'null' });
    expect(shown(readSandboxCall(packCall(1, 'model', 'a', { json: '{no' })))).toMatchObject({ json: '{no' });
  });

  it.each([
    ['no bytes', Buffer.alloc(0)],
    ['half a head', call.subarray(0, 11)],
    ['an answer', packAnswer(1, true, { json: '1' })],
    ['E05 the number 0', changed(1, 0)],
    ['an unknown target', changed(5, 3)],
    ['a name that is longer than the call', changed(6, 0xff, 0xff)],
    ['places that are longer than the call', changed(8, 0xff, 0xff, 0xff, 0xff)],
    ['a name over 200 characters', packCall(1, 'tool', 'x'.repeat(201), {})],
    ['places that are not JSON', placed('[')],
    ['places that are not a list', placed('{}')],
    ['E03 places with a prototype', placed('[{"path":[],"bytes":1,"stream":1,"__proto__":{"a":1}}]')],
    ['E06 places with the name of a job', placed('[{"path":[],"bytes":1,"stream":1,"jobId":"job-2"}]')],
    ['the stream number 0', placed('[{"path":[],"bytes":1,"stream":0}]')],
    ['a negative number of bytes', placed('[{"path":[],"bytes":-1,"stream":1}]')],
    ['65 places', placed(JSON.stringify(Array.from({ length: 65 }, () => ({ path: [], bytes: 1, stream: 1 }))))],
  ])('is refused if it has %s', (_name, bytes) => {
    expect(() => readSandboxCall(bytes)).toThrow();
  });
});
