import { expect, test } from 'vitest';
import { createEffectRecord, type EffectRecord } from '../../../src/tools/calls/effect-record.ts';

const MIB = 1024 * 1024;

function make(record: EffectRecord, json: unknown, bytes: number): void {
  const call = record.call('shop.order', json, [], []);
  call.begin();
  const parts = [new Uint8Array(bytes)];
  call.done({ ok: true, value: null, places: [{ path: [], bytes }], parts });
}

function isKept(record: EffectRecord, json: unknown): boolean {
  const { earlier } = record.call('shop.order', json, [], []);
  return earlier?.state === 'done' && earlier.reply !== undefined;
}

test('an answer that exceeds the remaining memory is not kept, but later answers that fit are', () => {
  const record = createEffectRecord();
  for (let large = 0; large < 5; large += 1) make(record, { large }, 8 * MIB);
  make(record, 'small', 4);
  record.nextAttempt();
  const large = [0, 1, 2, 3, 4].map((index) => isKept(record, { large: index }));
  expect([large, isKept(record, 'small')]).toEqual([[true, true, true, false, false], true]);
});

test('an aborted call is listed before its repetition', () => {
  const record = createEffectRecord();
  record.call('shop.order', 1, [], []).begin();
  make(record, 1, 0);
  record.nextAttempt();
  expect(record.call('shop.order', 1, [], []).earlier?.state).toBe('unknown');
  expect(isKept(record, 1)).toBe(true);
  expect(record.call('shop.order', 1, [], []).earlier).toBeUndefined();
});

test('a late end of a call of an earlier attempt is still recorded', () => {
  const record = createEffectRecord();
  const failed = record.call('shop.order', 1, [], []);
  failed.begin();
  failed.failed();
  const late = record.call('shop.order', 1, [], []);
  late.begin();
  record.nextAttempt();
  late.done({ ok: true, value: 'late' });
  expect(record.call('shop.order', 1, [], []).earlier).toMatchObject({ state: 'done', reply: { value: 'late' } });
});

test('calls with other arguments are other calls', () => {
  const record = createEffectRecord();
  make(record, { euro: 5 }, 0);
  record.nextAttempt();
  expect([isKept(record, { euro: 6 }), isKept(record, { euro: 5 })]).toEqual([false, true]);
});
