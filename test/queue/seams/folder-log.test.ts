import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderFiles } from '../../../src/queue/seams/folder-files.ts';
import { folderLog } from '../../../src/queue/seams/folder-log.ts';
import { LOG_START, type JobLog, type LogPlace } from '../../../src/queue/seams/job-log.ts';

let folder: string;
let log: JobLog;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-log-'));
  mkdirSync(join(folder, 'job'));
  log = folderLog(folderFiles(folder));
});
afterEach(async () => {
  await log.release('job');
  rmSync(folder, { recursive: true });
});

/** Most bytes that a log may give at once. */
const PIECE_BYTES = 32 * 1024;

/** The next events after a place, with their parts joined. */
async function take(count: number, after = LOG_START): Promise<{ place: LogPlace; line: string }[]> {
  const events: { place: LogPlace; line: string }[] = [];
  let begun: Buffer[] = [];
  for await (const parts of log.read('job', after, AbortSignal.timeout(20_000))) {
    expect(parts.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(PIECE_BYTES);
    for (const { place, bytes, isFirst, isLast } of parts) {
      expect(isFirst).toBe(begun.length === 0);
      begun.push(Buffer.from(bytes));
      if (!isLast) continue;
      events.push({ place, line: Buffer.concat(begun).toString() });
      begun = [];
    }
    if (events.length >= count) break;
  }
  return events.slice(0, count);
}

/** The last event, as far as its head goes. */
async function lastOf(id: string): Promise<{ offset: number; line: string } | undefined> {
  const last = await log.last(id);
  return last === undefined ? undefined : { offset: last.offset, line: last.head.toString() };
}

describe('folderLog()', () => {
  it('reads events in order, and goes on after any', async () => {
    await log.append('job', ['{"a":1}', '{"b":"é"}']);
    await log.append('job', ['{"c":3}']);
    const events = await take(3);
    expect(events.map(({ line }) => line)).toEqual(['{"a":1}', '{"b":"é"}', '{"c":3}']);
    for (const [at, { place }] of events.slice(0, -1).entries()) {
      expect(await take(events.length - at - 1, place)).toEqual(events.slice(at + 1));
    }
  });

  it('gives readers the events that come later, whatever the number of readers', async () => {
    const readers = Array.from({ length: 50 }, () => take(200));
    for (let at = 0; at < 200; at += 1) await log.append('job', [JSON.stringify({ at })]);
    const expected = Array.from({ length: 200 }, (_, at) => JSON.stringify({ at }));
    for (const events of await Promise.all(readers)) expect(events.map(({ line }) => line)).toEqual(expected);
  });

  it('reads events of any length, in parts of at most 32 KiB', async () => {
    const lengths = [2, PIECE_BYTES - 3, 3, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES, 400_000, 2];
    const lines = [...lengths.map((length) => 'x'.repeat(length)), 'é'.repeat(200_000)];
    await log.append('job', lines);
    const events = await take(lines.length);
    expect(events.map(({ line }) => line)).toEqual(lines);
    for (const [at, { place }] of events.slice(0, -1).entries()) {
      expect(await take(1, place)).toEqual(events.slice(at + 1, at + 2));
      expect(await log.isPlace('job', place)).toBe(true);
    }
  });

  it('has the beginning of the last event, whatever its length', async () => {
    for (const length of [1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 400_000]) {
      const line = 'x'.repeat(length);
      await log.append('job', [line]);
      await log.release('job');
      expect(await lastOf('job')).toEqual({ offset: expect.any(Number), line: line.slice(0, PIECE_BYTES) });
    }
  });

  it('knows the places between events, and no others', async () => {
    await log.append('job', ['{"a":1}', '{"b":2}']);
    const places = await Promise.all(
      Array.from({ length: 20 }, (_, offset) => log.isPlace('job', { attempt: 1, offset })),
    );
    expect(places.flatMap((isPlace, at) => (isPlace ? [at] : []))).toEqual([0, 8, 16]);
    // Of a log on another host, nothing is known.
    await log.begin('job', 3);
    expect(await log.isPlace('job', { attempt: 2, offset: 8 })).toBe(true);
    expect(await log.isPlace('job', { attempt: 4, offset: 0 })).toBe(false);
  });

  it('removes an event that a crash has torn, and never shows it', async () => {
    await log.append('job', ['{"a":1}']);
    await log.release('job');
    appendFileSync(join(folder, 'job', 'events.1.jsonl'), '{"torn":');
    expect(await lastOf('job')).toEqual({ offset: 8, line: '{"a":1}' });
    await log.append('job', ['{"b":2}']);
    expect((await take(2)).map(({ line }) => line)).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('goes on with the next log that is here, and drops what a crash has torn before it', async () => {
    const reading = take(3);
    await log.begin('job', 1);
    await log.append('job', ['{"a":1}']);
    await log.release('job');
    appendFileSync(join(folder, 'job', 'events.1.jsonl'), '{"torn":');
    // The log of attempt 2 is on another host.
    await log.begin('job', 3);
    await log.append('job', ['{"b":2}', '{"c":3}']);
    expect(await reading).toEqual([
      { place: { attempt: 1, offset: 8 }, line: '{"a":1}' },
      { place: { attempt: 3, offset: 8 }, line: '{"b":2}' },
      { place: { attempt: 3, offset: 16 }, line: '{"c":3}' },
    ]);
    const next = async (attempt: number, offset: number): Promise<string | undefined> =>
      (await take(1, { attempt, offset }))[0]?.line;
    expect([await next(1, 8), await next(2, 500), await next(3, 8)]).toEqual(['{"b":2}', '{"b":2}', '{"c":3}']);
    expect(await lastOf('job')).toEqual({ offset: 16, line: '{"c":3}' });
  });

  it('ends its readers when the job goes on elsewhere', async () => {
    const reading = take(5);
    await log.append('job', ['{"a":1}']);
    const leaving = setInterval(() => log.leave('job'), 20);
    // A reader that has just begun may miss the first calls, and the event with them.
    for (const { line } of await reading) expect(line).toBe('{"a":1}');
    clearInterval(leaving);
  });

  it('has no last event in a new or missing log', async () => {
    expect(await lastOf('job')).toBeUndefined();
    expect(await lastOf('missing')).toBeUndefined();
  });

  it('ends a reader that waits when its signal aborts', async () => {
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _ of log.read('job', LOG_START, controller.signal)) controller.abort();
    })();
    await log.append('job', ['{}']);
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });
});
