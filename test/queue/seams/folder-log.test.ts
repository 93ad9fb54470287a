import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderFiles } from '../../../src/queue/seams/folder-files.ts';
import { folderLog } from '../../../src/queue/seams/folder-log.ts';
import type { JobLog, LoggedEvent } from '../../../src/queue/seams/job-log.ts';

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

/** The next events after an id. */
async function take(count: number, after = 0): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of log.read('job', after, AbortSignal.timeout(20_000))) {
    if (events.push(event) === count) break;
  }
  return events;
}

describe('folderLog()', () => {
  it('reads events in order, and goes on after the id of any', async () => {
    await log.append('job', ['{"a":1}', '{"b":"é"}']);
    await log.append('job', ['{"c":3}']);
    const events = await take(3);
    expect(events.map(({ line }) => line)).toEqual(['{"a":1}', '{"b":"é"}', '{"c":3}']);
    for (const [at, { id }] of events.slice(0, -1).entries()) {
      expect(await take(events.length - at - 1, id)).toEqual(events.slice(at + 1));
    }
  });

  it('gives readers the events that come later, whatever the number of readers', async () => {
    const readers = Array.from({ length: 50 }, () => take(200));
    for (let at = 0; at < 200; at += 1) await log.append('job', [JSON.stringify({ at })]);
    const expected = Array.from({ length: 200 }, (_, at) => JSON.stringify({ at }));
    for (const events of await Promise.all(readers)) expect(events.map(({ line }) => line)).toEqual(expected);
  });

  it('reads an event that is longer than a piece of the file', async () => {
    const long = JSON.stringify({ text: 'é'.repeat(200_000) });
    await log.append('job', ['{}', long, '{}']);
    expect((await take(3)).map(({ line }) => line)).toEqual(['{}', long, '{}']);
    expect((await log.last('job'))?.line).toBe('{}');
    await log.append('job', [long]);
    await log.release('job');
    expect((await log.last('job'))?.line).toBe(long);
  });

  it('knows the ids of events, and no other places', async () => {
    await log.append('job', ['{"a":1}', '{"b":2}']);
    const places = await Promise.all(Array.from({ length: 20 }, (_, at) => log.isPlace('job', at)));
    expect(places.flatMap((isPlace, at) => (isPlace ? [at] : []))).toEqual([0, 8, 16]);
    expect(await log.isPlace('missing', 8)).toBe(false);
  });

  it('removes an event that a crash has torn, and never shows it', async () => {
    await log.append('job', ['{"a":1}']);
    await log.release('job');
    appendFileSync(join(folder, 'job', 'events.jsonl'), '{"torn":');
    expect(await log.last('job')).toEqual({ id: 8, line: '{"a":1}' });
    await log.append('job', ['{"b":2}']);
    expect((await take(2)).map(({ line }) => line)).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('has no last event in a new or missing log', async () => {
    expect(await log.last('job')).toBeUndefined();
    expect(await log.last('missing')).toBeUndefined();
  });

  it('ends a reader that waits when its signal aborts', async () => {
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _ of log.read('job', 0, controller.signal)) controller.abort();
    })();
    await log.append('job', ['{}']);
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });
});
