import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { serviceConnection } from '../../src/client/ask-service.ts';
import { connectService } from '../../src/client/connect-service.ts';
import { followJob, type SentEvent } from '../../src/client/follow-job.ts';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import type { JobStream } from '../../src/jobs/orchestrator.ts';
import { outputEvent } from '../../src/jobs/events/output-event.ts';
import { freePort } from '../fixtures/free-port.ts';
import { type ScriptedJob, scriptedJobs } from '../fixtures/scripted-jobs.ts';
import { type ServiceSceneOptions, startService } from '../fixtures/service.ts';
import { startTcpProxy } from '../fixtures/tcp-proxy.ts';
import { until } from '../fixtures/until.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-lost-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function eventsOf(job: JobStream): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const event of job) events.push(event);
  return events;
}

/** The service gives the skills of the user, which these jobs do not need. */
function jobs(): { start: NonNullable<ServiceSceneOptions['start']>; running: ScriptedJob[] } {
  const { start, running } = scriptedJobs();
  return { start: (job) => start(job, 1, { team: undefined, skillsUpTo: undefined }, {}) as JobStream, running };
}

/** An event of the service, or of the client. */
function shown(event: JobEvent | SentEvent): object {
  if (event.type !== 'output') return event;
  const { bytes, text = '', base64 } = event as { bytes?: Uint8Array; text?: string; base64?: string };
  const given = bytes ?? Buffer.from(base64 ?? text, base64 === undefined ? 'utf8' : 'base64');
  return { stream: event.stream, hex: Buffer.from(given).toString('hex') };
}

const CUTS = 200;

it('a proxy that cuts connections at many points loses no event and doubles no job', { timeout: 120_000 }, async () => {
  const { start, running } = jobs();
  await using scene = await startService({ start });
  const proxy = await startTcpProxy(Number(new URL(scene.url).port));
  let seed = 11;
  let requests = 0;
  const client = connectService({
    ...{ url: `http://127.0.0.1:${proxy.port}`, token: scene.admin },
    fetch: async (...given) => {
      requests += 1;
      seed = (seed * 48_271) % 2_147_483_647;
      proxy.fault = requests > CUTS ? 'none' : { cutAfter: 400 + (seed % 4_000) };
      return await fetch(...given);
    },
  });
  try {
    const job = client.stream({ kind: 'exec', code: '1' });
    const reading = eventsOf(job);
    await until(() => running.length === 1, 'the job');
    const [scripted] = running;
    const bytes = Buffer.from('zeile €🎉\n'.repeat(50));
    const id = scripted?.id ?? '';
    scripted?.emit({ type: 'run', jobId: id, run: 1 });
    for (let at = 0; at < bytes.length; at += 7) {
      scripted?.emit(outputEvent(id, at % 2 === 0 ? 'stdout' : 'stderr', bytes.subarray(at, at + 7), ''));
      scripted?.emit({ type: 'code', jobId: id, attempt: at, code: 'x'.repeat(at) });
    }
    scripted?.end();
    const events = await reading;
    expect(requests).toBeGreaterThan(10);
    expect(proxy.met).toBeGreaterThan(5);
    const { ask, patience } = serviceConnection({ url: scene.url, token: scene.admin });
    const whole: SentEvent[] = [];
    for await (const event of followJob(ask, id, patience())) whole.push(event);
    // The client ends an incomplete character with an event without bytes, as the orchestrator does.
    const withBytes = events.filter((event) => event.type !== 'output' || event.bytes.length > 0);
    expect(withBytes.map(shown)).toEqual(whole.map(shown));
    expect((await scene.call('/jobs')).json.items).toHaveLength(1);
  } finally {
    await proxy.close();
  }
});

it('an incomplete character of a lost sandbox ends before the job begins again', async () => {
  const { start, running } = jobs();
  await using scene = await startService({ start });
  const client = connectService({ url: scene.url, token: scene.admin });
  const reading = eventsOf(client.stream({ kind: 'exec', code: '1' }));
  await until(() => running.length === 1, 'the job');
  const [scripted] = running;
  const jobId = scripted?.id ?? '';
  const euro = Buffer.from('€');
  scripted?.emit({ type: 'run', jobId, run: 1 });
  scripted?.emit(outputEvent(jobId, 'stdout', euro.subarray(0, 2), ''));
  scripted?.emit({ type: 'restarted', jobId, attempt: 2, reason: 'its host was lost' });
  scripted?.emit({ type: 'run', jobId, run: 1 });
  scripted?.emit(outputEvent(jobId, 'stdout', Buffer.from('new'), 'new'));
  scripted?.end();
  const events = await reading;
  const begins = events.findIndex(({ type }) => type === 'restarted');
  const textOf = (some: JobEvent[]): string => some.map((each) => (each.type === 'output' ? each.text : '')).join('');
  expect([textOf(events.slice(0, begins)), textOf(events.slice(begins))]).toEqual(['\uFFFD', 'new']);
});

it('a service that starts again in between runs a waiting job once, and the client has its end', async () => {
  const port = await freePort();
  const [first, second] = [jobs(), jobs()];
  const before = await startService({ folder, port, concurrency: 1, start: first.start });
  const client = connectService({ url: before.url, token: before.admin });
  const cut = client.exec({ code: '1', label: 'running' });
  await until(() => first.running.length === 1, 'the first job');
  const waiting = client.stream({ kind: 'exec', code: '2', label: 'waiting' });
  await until(async () => (await before.call('/jobs?state=waiting')).json.items.length === 1, 'the second job');
  await before[Symbol.asyncDispose]();
  const late = client.exec({ code: '3', label: 'late' });
  await using after = await startService({ folder, port, start: second.start });
  await until(() => second.running.length === 2, 'both jobs');
  for (const job of [...second.running]) job.end();
  expect((await cut).outcome).toBe('canceled');
  expect([(await waiting.result).outcome, (await late).outcome]).toEqual(['succeeded', 'succeeded']);
  expect((await after.call('/jobs')).json.items.map(({ label }: { label: string }) => label).toSorted()).toEqual([
    'late',
    'running',
    'waiting',
  ]);
});

it('a host that died makes an error, and an address without a service fails soon', async () => {
  const { start, running } = jobs();
  await using scene = await startService({ start });
  const client = connectService({ url: scene.url, token: scene.admin });
  const job = client.exec({ code: '1' });
  await until(() => running.length === 1, 'the job');
  running[0]?.fail(new SkillcellError('job.host-lost', 'The host ended.'));
  await expect(job).rejects.toMatchObject({ code: 'job.host-lost', message: 'The host ended.' });
  const none = connectService({ url: `http://127.0.0.1:${await freePort()}`, token: 'a', retryMs: 100 });
  await expect(none.exec({ code: '1' })).rejects.toMatchObject({
    code: 'service.unavailable',
    message: 'Cannot reach the service: ECONNREFUSED.',
  });
});
