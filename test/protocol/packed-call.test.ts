import { describe, expect, it } from 'vitest';
import { FrameError } from '../../src/protocol/channel/frame.ts';
import {
  hasName,
  isPacked,
  jsonOf,
  nameOf,
  packAnswer,
  packCall,
  placesOf,
  readAnswer,
  readCall,
  renumbered,
} from '../../src/protocol/channel/packed-call.ts';

describe('a packed call', () => {
  it.each([
    ['', ''],
    ['', '{"a":"ü"}'],
    ['[{"path":["ü"]}]', '[null]'],
    ['[]', ''],
  ])('is read as it was written: places %j, JSON %j', (places, json) => {
    for (const as of [String, Buffer.from]) {
      const bytes = packCall(2 ** 32 - 1, 'host', 'näme', { places: as(places), json: as(json) });
      const call = readCall(bytes);
      expect([call.id, call.target, nameOf(call)]).toEqual([2 ** 32 - 1, 'host', 'näme']);
      expect(placesOf(call)?.toString()).toBe(places === '' ? undefined : places);
      expect(jsonOf(call).toString()).toBe(json);
    }
  });

  it('differs from a message in its first byte', () => {
    expect(isPacked(packCall(1, 'tool', 'a', {}))).toBe(true);
    expect(isPacked(packAnswer(1, true, {}))).toBe(true);
    for (const text of ['{"type":"call"}', ' {}', '[1]', '']) expect(isPacked(Buffer.from(text))).toBe(false);
    for (const first of [0, 3]) expect(isPacked(Buffer.from([first]))).toBe(false);
  });

  it('is checked for a name of at most a number of bytes', () => {
    const named = (name: string): boolean => hasName(readCall(packCall(1, 'tool', name, { json: '1' })), 4);
    expect(['', 'a', 'abcd', 'abcde', 'üü', 'üüa'].map(named)).toEqual([false, true, true, false, true, false]);
  });

  it('can get another id without any other change', () => {
    const bytes = packCall(7, 'tool', 'echo', { json: '{}' });
    expect(renumbered(readCall(bytes), 9)).toEqual(packCall(9, 'tool', 'echo', { json: '{}' }));
    const answer = packAnswer(7, false, { json: '{}' });
    expect(renumbered(readAnswer(answer), 9)).toEqual(packAnswer(9, false, { json: '{}' }));
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['an answer', packAnswer(1, true, { json: '12345' })],
    ['less than a head', packCall(1, 'tool', '', {}).subarray(0, 11)],
    ['less than its name', packCall(1, 'tool', 'name', {}).subarray(0, 15)],
    ['less than its places', packCall(1, 'tool', '', { places: '[]' }).subarray(0, 13)],
  ])('is not %s', (_name, bytes) => {
    expect(() => readCall(bytes)).toThrow(FrameError);
  });

  it('may be a head alone', () => {
    expect(readCall(packCall(1, 'tool', '', {}))).toMatchObject({ id: 1, nameEnd: 12, placesEnd: 12 });
  });
});

describe('a packed answer', () => {
  it.each([
    [true, '', 'null'],
    [true, '[{"path":[]}]', '[null]'],
    [false, '', '{"code":"tool.failed"}'],
  ])('is read as it was written: %j, places %j, JSON %j', (ok, places, json) => {
    const answer = readAnswer(packAnswer(5, ok, { places, json }));
    expect([answer.id, answer.ok]).toEqual([5, ok]);
    expect(placesOf(answer)?.toString()).toBe(places === '' ? undefined : places);
    expect(jsonOf(answer).toString()).toBe(json);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a call', packCall(1, 'tool', 'name', {})],
    ['less than a head', packAnswer(1, true, {}).subarray(0, 9)],
    ['less than its places', packAnswer(1, true, { places: '[]' }).subarray(0, 11)],
    ['neither a value nor an error', Buffer.from([2, 0, 0, 0, 0, 2, 0, 0, 0, 0])],
  ])('is not %s', (_name, bytes) => {
    expect(() => readAnswer(bytes)).toThrow(FrameError);
  });
});
