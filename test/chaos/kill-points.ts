import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import { LABEL } from '../../src/sandboxes/docker/container-options.ts';
import { listControlGroups } from '../../src/sandboxes/local/control-group.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { StartedHost } from './started-host.ts';

/** Moments in the life of a host. */
export const KILL_POINTS = ['start', 'accept', 'running', 'result', 'sandbox', 'removal', 'close'] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

/** The places where the moments are observed. */
export interface Surroundings {
  stateDir: string;
  engine: Docker | undefined;
  /** The owner of the sandboxes. */
  owner: string;
}

/** A moment may not come, because the jobs took another turn. Then the host is killed after this time. */
const LATEST_MS = 4_000;

/**
 * Resolves at a point in the life of a host, plus a small random delay. Points are observed from outside where possible, so that they are exact. For
 * `start`, call it before the host is ready.
 */
export async function killMoment(
  point: KillPoint,
  host: StartedHost,
  random: SeededRandom,
  around: Surroundings,
): Promise<void> {
  const ending = new AbortController();
  const moment = momentOf(point, host, random, around, ending.signal);
  await Promise.race([
    moment,
    host.ended,
    pause(LATEST_MS, undefined, { signal: ending.signal }).catch(() => undefined),
  ]);
  ending.abort();
}

async function momentOf(
  point: KillPoint,
  host: StartedHost,
  random: SeededRandom,
  { stateDir, engine, owner }: Surroundings,
  signal: AbortSignal,
): Promise<void> {
  const count = random.between(1, 4);
  const delayMs = random.between(0, 4);
  switch (point) {
    case 'start':
      return await pause(random.between(0, 700));
    case 'accept':
      await host.until((words) => words.filter(({ word }) => word === 'accepted').length >= count);
      break;
    case 'running':
      await host.until((words) => words.some(({ word }) => word === 'started'));
      return await pause(random.between(0, 1_200));
    case 'result':
      await partialResults(join(stateDir, 'results'), host.owner, count, signal);
      return;
    case 'sandbox':
      if (engine === undefined) await controlGroups(owner, count, 'made', signal);
      else await engineEvents(engine, owner, random.pick([['create'], ['attach'], ['start']]), count, signal);
      break;
    case 'removal':
      if (engine === undefined) await controlGroups(owner, count, 'gone', signal);
      else await engineEvents(engine, owner, random.pick([['kill'], ['die'], ['destroy']]), count, signal);
      break;
    case 'close':
      await host.until((words) => words.some(({ word }) => word === 'started'));
      await pause(random.between(0, 500));
      host.send({ order: 'close' });
      return await pause(random.between(0, 250));
  }
  await pause(delayMs);
}

/** Resolves when the owner has begun to write its n-th result. */
function partialResults(folder: string, owner: string, count: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const seen = new Set<string>();
    const watcher = watch(folder, (_event, name) => {
      if (name?.startsWith(`.${owner}-`) === true) seen.add(name);
      if (seen.size >= count) resolve();
    });
    signal.addEventListener('abort', () => watcher.close(), { once: true });
  });
}

/** Resolves when the n-th control group of the owner was made or removed. The kernel sends no event, so this polls. */
async function controlGroups(owner: string, count: number, what: 'made' | 'gone', signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  while (!signal.aborted) {
    const now = listControlGroups().filter((name) => name.startsWith(owner));
    for (const name of now) seen.add(name);
    if ((what === 'made' ? seen.size : seen.size - now.length) >= count) return;
    await pause(2);
  }
}

/** Resolves when the engine has announced the n-th event of the owner's containers. */
async function engineEvents(
  engine: Docker,
  owner: string,
  event: string[],
  count: number,
  abortSignal: AbortSignal,
): Promise<void> {
  const filters = { label: [`${LABEL.owner}=${owner}`], event };
  const events = await engine.getEvents({ filters, abortSignal });
  await new Promise<void>((resolve) => {
    let seen = 0;
    events.on('data', () => {
      seen += 1;
      if (seen >= count) resolve();
    });
    // The abort ends the stream.
    events.on('error', () => resolve());
  });
}
