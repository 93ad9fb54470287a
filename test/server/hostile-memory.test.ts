import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { packSkill } from '../../src/archives/pack-skill.ts';
import { forgetPeak, peakMemory } from '../fixtures/peak-memory.ts';
import { type ServeAnswer, type ServeProcess, startServeProcess } from '../fixtures/serve-process.ts';
import { descendantsOf } from '../fixtures/spawn-cli.ts';
import { until } from '../fixtures/until.ts';

const MIB = 1024 * 1024;
/** The most that clients may make the service grow, in MiB. */
const MOST_MORE = 64;
/** The most processor time of the main thread for one refused request: other requests wait for as long. */
const MOST_MS = 1_000;
const WAIT = { prefer: 'wait=60' };
const LONG = `for (let at = 0; at < 2_000; at += 1) console.log('x'.repeat(1_000));`;

let service: ServeProcess;
let before = 0;
beforeAll(async () => {
  service = await startServeProcess();
  // Modules that load at first use are no growth.
  for (const code of ['1', LONG]) await service.call('/jobs', { kind: 'exec', code }, WAIT);
  await service.call('/jobs', formOf(1_000));
  await service.call('/skills/upload?dryRun=1', await uploadOf('first', 1_000));
}, 120_000);
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  before = forgetPeak(service.pid);
});
afterEach(async () => {
  const { json } = await service.call('/jobs', { kind: 'exec', code: 'console.log(1)' }, WAIT);
  expect(json.outcome).toBe('succeeded');
});

/** How much the service has grown at most, in MiB. */
const growth = (): number => (peakMemory(service.pid) - before) / MIB;

function formOf(bytes: number): FormData {
  const form = new FormData();
  form.set('job', JSON.stringify({ kind: 'exec', code: `console.log(${bytes})` }));
  form.set('files/data.bin', new Blob([new Uint8Array(bytes)]), 'data.bin');
  return form;
}

/** The upload of a skill with random bytes. */
async function uploadOf(name: string, bytes: number): Promise<FormData> {
  const text = Buffer.from(`---\nname: ${name}\ndescription: x\n---\nx`);
  const files = { 'SKILL.md': text, 'data.bin': randomBytes(bytes) };
  const tree = new Map(Object.entries(files).map(([path, content]) => [path, { bytes: content, executable: false }]));
  const { archive } = await packSkill(name, tree, { store: true });
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), `${name}.zip`);
  return form;
}

/** Connections that send a text and read nothing. */
async function stalled(count: number, text: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(service.port, '127.0.0.1').on('error', () => undefined));
  for (const socket of sockets) {
    if (socket.connecting) await once(socket, 'connect');
    socket.pause().write(text);
  }
  return sockets;
}

/** Jobs that take all places, so that others wait. */
async function startSleepers(): Promise<ServeAnswer[]> {
  const code = 'setInterval(() => {}, 1_000)';
  const places = Math.max(2, availableParallelism());
  const jobs = await Promise.all(Array.from({ length: places }, () => service.call('/jobs', { kind: 'exec', code })));
  for (const { json } of jobs)
    await until(async () => (await service.call(`/jobs/${json.id}`)).json.state === 'running', 'a place');
  return jobs;
}

/** Whether a process reads archives. */
const isOfArchives = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('archive-process');
  } catch {
    // It has ended.
    return false;
  }
};

const headOf = (path: string): string =>
  `GET /api/v1${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${service.admin}\r\n\r\n`;

describe('the service does not grow', { timeout: 300_000 }, () => {
  it('by 100 readers that never read the events of a job, which ends nevertheless', async () => {
    const { json: job } = await service.call('/jobs', { kind: 'exec', code: LONG });
    const sockets = await stalled(100, headOf(`/jobs/${job.id}/events`));
    await until(async () => (await service.call(`/jobs/${job.id}`)).json.state === 'finished', 'the job', 120_000);
    // A reader that begins now has all of it, and with it the stalled ones have had their time.
    const events = await service.call(`/jobs/${job.id}/events`);
    expect(events.text).toContain('"type":"finished"');
    sockets.forEach((socket) => socket.destroy());
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
    // The events of an ended job are all there at once.
    const late = await stalled(100, headOf(`/jobs/${job.id}/events`));
    for (let round = 0; round < 20; round += 1) await service.call(`/jobs/${job.id}/events`);
    late.forEach((socket) => socket.destroy());
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
  });

  it('by forms of 31 MiB at once, until their jobs run', async () => {
    const sleepers = await startSleepers();
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.call('/jobs', formOf(31 * MIB))));
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
    expect(answers.map(({ status, json }) => `${status} ${json.state}`)).toEqual(Array(6).fill('202 waiting'));
    const [first] = answers;
    const rerun = await service.call(`/jobs/${first?.json.id}/rerun`, {});
    expect([rerun.status, rerun.json.request.files[0].bytes]).toEqual([202, 31 * MIB]);
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
    for (const { json } of [...answers, rerun, ...sleepers]) await service.call(`/jobs/${json.id}/cancel`, {});
  });

  it('by jobs that run with 31 MiB', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => service.call('/jobs', formOf(31 * MIB))));
    for (const { json } of answers) {
      const isOver = async (): Promise<boolean> => (await service.call(`/jobs/${json.id}`)).json.state === 'finished';
      await until(isOver, 'the job', 120_000);
      expect((await service.call(`/jobs/${json.id}/result`)).json.outcome).toBe('succeeded');
    }
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
  });

  it('by archives of 9.5 MB at once, and gives the memory of their checks back', async () => {
    const names = ['one', 'two', 'three'];
    const answers = await Promise.all(
      names.map(async (name) => service.call('/skills/upload', await uploadOf(name, 9_500_000))),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
    await until(() => !descendantsOf(service.pid).some(isOfArchives), 'the end of the process', 60_000);
  });

  it('by large bodies at once', async () => {
    const files = { 'a.bin': { base64: 'A'.repeat(8_000_000) } };
    const job = { kind: 'exec', code: '1', files };
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.call('/jobs', job)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(202));
    // Each body is there as bytes, as a text and as values, one after the other.
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
  });

  const keys = (count: number, name: string, value: unknown): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, value]));
  it.for<[name: string, fields: Record<string, unknown>]>([
    ['50,000 bad paths', { files: keys(50_000, '../', 1) }],
    ['1,000 bad paths', { files: keys(1_000, '../', 1) }],
    ['500,000 bad variables', { env: keys(500_000, '-', 1) }],
    ['500,000 unknown fields', keys(500_000, 'x', 1)],
    ['10,000 bad arguments', { args: Array(10_000).fill(1) }],
    ['millions of empty lists', { skills: { pool: Array.from({ length: 2_500_000 }, () => []) } }],
    ['a path of 8 MB', { files: { [`${'a/'.repeat(4_000_000)}..`]: '' } }],
  ])('by five jobs with %s, and refuses them soon', async ([, fields]) => {
    const body = JSON.stringify({ kind: 'exec', code: '1', ...fields });
    const begun = service.mainThreadMs();
    const answers = await Promise.all(Array.from({ length: 5 }, () => service.call('/jobs', body)));
    expect((service.mainThreadMs() - begun) / answers.length).toBeLessThan(MOST_MS);
    expect(answers.map(({ status, json }) => `${status} ${json.code}`)).toEqual(Array(5).fill('400 request.invalid'));
    for (const { text } of answers) expect(text.length).toBeLessThan(20_000);
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
  });

  it('by 600 silent connections, which keep no client out', async () => {
    const sockets = await stalled(600, 'GET /api');
    const { status } = await service.call('/me');
    expect(status).toBe(200);
    // They have not run into the limit of time: one had to give way for each that came.
    expect(sockets.filter(({ destroyed, closed }) => !destroyed && !closed).length).toBeGreaterThan(400);
    sockets.forEach((socket) => socket.destroy());
    expect(growth()).toBeLessThanOrEqual(MOST_MORE);
  });
});
