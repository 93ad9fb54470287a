import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openDatabase } from '../src/registry/database/open-database.ts';
import type { BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement, quantile } from './measurement.ts';
import type { BenchService, ServePart, ServeScene } from './serve-scene.ts';
import { type Subject, takeTurns } from './take-turns.ts';

const ROUNDS = 10;
const EVENTS = 50_000;
const RATE = 'serve.sse.rate';
const DELAY = 'serve.sse.delay';
/** Prints the time every 100 ms. */
const TICKING = `for (let at = 0; at < 20; at += 1) {
  console.log(Date.now());
  await new Promise((resolve) => setTimeout(resolve, 100));
}`;

/** Events of a job over HTTP: many that are stored, and the delay of those that come. */
export const serveEvents: ServePart = {
  ids: [RATE, DELAY],
  async rows(scene, options) {
    return [
      ...(options.wants(RATE) ? [await rateRow(scene, options)] : []),
      ...(options.wants(DELAY) ? [await delayRow(scene, options)] : []),
    ];
  },
};

async function rateRow(scene: ServeScene, { samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement> {
  const lines = Array.from({ length: EVENTS }, (_, at) =>
    JSON.stringify({ type: 'output', jobId: 'many', stream: 'stdout', text: `line ${at} of a program that prints\n` }),
  );
  lines.push('{"type":"finished"}');
  const service = await withFinishedJob(scene, lines);
  const plain = createServer((_request, response) => {
    for (const [at, line] of lines.entries()) response.write(`id: ${at}\ndata: ${line}\n\n`);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  const subjects = [
    eventsASecond('node:http', () => fetch(`http://127.0.0.1:${port}`)),
    eventsASecond(RATE, () => service.fetch('/jobs/many/events')),
  ];
  const values = await takeTurns(subjects, samples, progress);
  plain.close();
  return measurementOf({
    ...{ id: RATE, unit: 'events/s', goal: 'ratio ≥ 1', values: values.get(RATE) ?? [] },
    baseline: { id: 'node:http', values: values.get('node:http') ?? [] },
  });
}

/** A service that has a finished job with these events. */
async function withFinishedJob(scene: ServeScene, lines: readonly string[]): Promise<BenchService> {
  const place = await scene.place('sqlite');
  // The first start creates the tables.
  await (await scene.service('sqlite', place)).close();
  {
    await using database = await openDatabase(place);
    const row = { id: 'many', user_id: 1, kind: 'exec', state: 'finished', outcome: 'succeeded', attempt: 1 } as const;
    const rest = { request_hash: '', created_at: 1, finished_at: Date.now(), request: '{}', result: '{}' };
    await database.db
      .insertInto('jobs')
      .values({ ...row, ...rest })
      .execute();
  }
  const folder = join(place.folder, 'jobs', 'many');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'events.1.jsonl'), lines.map((line) => `${line}\n`).join(''));
  return await scene.service('sqlite', place);
}

function eventsASecond(id: string, open: () => Promise<Response>): Subject {
  return {
    id,
    async sample() {
      const started = performance.now();
      let events = 0;
      for await (const piece of (await open()).body ?? []) {
        for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) events += 1;
      }
      if (events !== 3 * (EVENTS + 1)) throw new Error(`Cannot measure ${id}: ${events} lines came.`);
      return (EVENTS * 1_000) / (performance.now() - started);
    },
  };
}

/** From the print of a line to its arrival, against the stream of the orchestrator. */
async function delayRow(scene: ServeScene, { samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement> {
  const service = await scene.service('sqlite');
  const streamed = async (): Promise<number> => {
    const delays: number[] = [];
    const job = scene.orchestrator.stream({ kind: 'exec', code: TICKING });
    for await (const event of job) if (event.type === 'output') delays.push(...delaysIn(event.text));
    return quantile(delays, 0.5);
  };
  const served = async (): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ kind: 'exec', code: TICKING });
    const { id } = (await (await service.fetch('/jobs', { method: 'POST', headers, body })).json()) as { id: string };
    const delays: number[] = [];
    let text = '';
    for await (const piece of (await service.fetch(`/jobs/${id}/events`)).body ?? []) {
      text += Buffer.from(piece as Uint8Array).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const { type, text: printed } = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}') as Record<string, string>;
        if (type === 'output' && printed !== undefined) delays.push(...delaysIn(printed));
      }
    }
    return quantile(delays, 0.5);
  };
  const prepare = (): Promise<void> => scene.orchestrator.warm();
  const subjects = [
    { id: 'stream', prepare, sample: streamed },
    { id: DELAY, prepare, sample: served },
  ];
  const values = await takeTurns(subjects, samples, progress);
  return measurementOf({
    ...{ id: DELAY, unit: 'ms', goal: 'median ≤ stream + 80 ms', values: values.get(DELAY) ?? [] },
    baseline: { id: 'stream', values: values.get('stream') ?? [] },
  });
}

/** How long ago the times in a text are. Sandbox and host have one clock. */
function delaysIn(text: string): number[] {
  const now = Date.now();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => now - Number(line));
}
