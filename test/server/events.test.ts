import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { type ServiceScene, startService } from '../fixtures/service.ts';

const CUTS = 200;

let scene: ServiceScene;
beforeAll(async () => {
  scene = await startService();
});
afterAll(() => scene[Symbol.asyncDispose]());

interface Sent {
  id: string;
  data: string;
}

/** Reads events until a number of bytes has come, then cuts the connection; whole events only are kept. */
async function readEvents(id: string, after: string | undefined, bytes = Number.POSITIVE_INFINITY): Promise<Sent[]> {
  const cut = new AbortController();
  const answer = await fetch(`${scene.url}/api/v1/jobs/${id}/events`, {
    headers: { authorization: `Bearer ${scene.admin}`, ...(after === undefined ? {} : { 'last-event-id': after }) },
    signal: cut.signal,
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  let text = '';
  let size = 0;
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    const bit = (piece as Uint8Array).subarray(0, bytes - size);
    size += bit.length;
    text += decoder.decode(bit, { stream: true });
    if (size >= bytes) break;
  }
  cut.abort();
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((event) => !event.startsWith(':'))
    .map((event) => /^id: (?<id>\d+\.\d+)\ndata: (?<data>.*)$/s.exec(event)?.groups as unknown as Sent);
}

/** The program prints for a while, in pieces with characters of several bytes, and bytes that are no text. */
const code = `
  for (let at = 0; at < 150; at += 1) {
    process.stdout.write('zeile €🎉 ' + at + '\\n');
    if (at % 10 === 0) process.stderr.write(Buffer.from([0xff, at]));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }`;

describe('the events of a job', () => {
  it(
    'that are read in parts, with cut connections, are those that are read at once',
    { timeout: 300_000 },
    async () => {
      const { json: job } = await scene.call('/jobs', { body: { kind: 'exec', code, isolation: BEST_LEVEL } });
      const whole = readEvents(job.id, undefined);
      const joined: Sent[] = [];
      let seed = 7;
      for (let cuts = 0; cuts < CUTS; cuts += 1) {
        seed = (seed * 48_271) % 2_147_483_647;
        joined.push(...(await readEvents(job.id, joined.at(-1)?.id, 1 + (seed % 900))));
        if (joined.at(-1)?.data.includes('"type":"finished"') === true) break;
      }
      if (joined.at(-1)?.data.includes('"type":"finished"') !== true)
        joined.push(...(await readEvents(job.id, joined.at(-1)?.id)));
      expect(joined).toEqual(await whole);
      const events = joined.map(({ data }) => JSON.parse(data));
      const bytesOf = (stream: string): Buffer =>
        Buffer.concat(
          events
            .filter((event) => event.type === 'output' && event.stream === stream)
            .map(({ text, base64 }) => (base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64'))),
        );
      const { result } = events.at(-1);
      expect([result.outcome, bytesOf('stdout').toString()]).toEqual(['succeeded', result.stdout.text]);
      expect(bytesOf('stderr')).toHaveLength(30);
    },
  );

  it('go on after a restart of the service, up to the end that it has recorded', async () => {
    const { json: job } = await scene.call('/jobs', { body: { kind: 'exec', code: 'console.log(1)' } });
    const events = await readEvents(job.id, undefined);
    const places = [undefined, ...events.slice(0, -1).map(({ id }) => id)];
    for (const [at, place] of places.entries()) expect(await readEvents(job.id, place)).toEqual(events.slice(at));
    expect(await readEvents(job.id, events.at(-1)?.id, 1)).toEqual([]);
  });

  it('have no other ids', async () => {
    const { json } = await scene.call('/jobs', { body: { kind: 'exec', code: '1' }, headers: { prefer: 'wait=60' } });
    for (const place of ['1', '1.1', '-1', 'x', '1.999999999', '1.1e3', '2.0', '2.8']) {
      const answer = await scene.call(`/jobs/${json.jobId}/events`, { headers: { 'last-event-id': place } });
      expect([place, answer.status, answer.json.code]).toEqual([place, 400, 'request.invalid']);
    }
  });

  it('of a job with many readers that never read leave the job and the other readers alone', async () => {
    const long = `for (let at = 0; at < 40; at += 1) console.log('x'.repeat(20_000));`;
    const { json: job } = await scene.call('/jobs', { body: { kind: 'exec', code: long } });
    const stalled = new AbortController();
    const readers = Array.from({ length: 50 }, () =>
      fetch(`${scene.url}/api/v1/jobs/${job.id}/events`, {
        headers: { authorization: `Bearer ${scene.admin}` },
        signal: stalled.signal,
      }),
    );
    const answers = await Promise.all(readers);
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    const events = await readEvents(job.id, undefined);
    expect(JSON.parse(events.at(-1)?.data ?? '{}').result.stdout.bytes).toBe(800_040);
    stalled.abort();
  });
});
