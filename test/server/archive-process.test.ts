import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { uploadForm } from '../fixtures/service.ts';
import { type ServeProcess, startServeProcess } from '../fixtures/serve-process.ts';
import { descendantsOf } from '../fixtures/spawn-cli.ts';
import { until } from '../fixtures/until.ts';

let service: ServeProcess;
beforeEach(async () => {
  service = await startServeProcess();
}, 120_000);
afterEach(() => service[Symbol.asyncDispose]());

/** An archive whose check takes seconds of the processor. */
function slowForm(name: string): FormData {
  const others = Array.from({ length: 100 }, (_, at) => ({
    name: `${name}/${at}.txt`,
    content: 'some words in a long text\n'.repeat(18_000),
    method: 8,
  }));
  return uploadForm(skillArchive(name, {}, { others }));
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
};

/** The processes that read archives, by their ids. */
const readers = (): number[] => descendantsOf(service.pid).filter((pid) => commandOf(pid).includes('archive-process'));

async function firstReader(): Promise<number> {
  await until(() => readers().length === 1, 'the process for the archive', 60_000);
  return readers()[0] ?? 0;
}

it('a check ends with a service that is killed', async () => {
  const upload = service.call('/skills/upload', slowForm('slow')).catch(() => undefined);
  const reader = await firstReader();
  process.kill(service.pid, 'SIGKILL');
  await until(() => commandOf(reader) === '', 'the end of the check', 60_000);
  expect(await upload).toBeUndefined();
}, 120_000);

it('a check ends when its client leaves, and the next upload is taken', async () => {
  const gone = new AbortController();
  const { port, admin } = service;
  const upload = fetch(`http://127.0.0.1:${port}/api/v1/skills/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}` },
    body: slowForm('slow'),
    signal: gone.signal,
  }).catch(() => undefined);
  const reader = await firstReader();
  gone.abort();
  await upload;
  await until(() => commandOf(reader) === '', 'the end of the check', 60_000);
  const { status } = await service.call('/skills/upload', uploadForm(skillArchive('next')));
  expect(status).toBe(201);
  const { json } = await service.call('/skills');
  expect(json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['next']);
}, 120_000);
