import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';
import type { ServedHost, ServedPlace } from './served-host.ts';

/**
 * Moments in the life of a service: its start, any time under load, between the folder of a job and its row, between the output of a job and its end,
 * between the file of an archive and its row, and its ordinary end.
 */
export const SERVICE_KILL_POINTS = ['start', 'load', 'accept', 'output', 'upload', 'close'] as const;
export type ServiceKillPoint = (typeof SERVICE_KILL_POINTS)[number];

/** A moment may not come. Then the service is killed after this time. */
const LATEST_MS = 4_000;
/** The same for the first accepted archive: its process has to start on a machine under load. */
const LATEST_ARCHIVE_MS = 20_000;

/**
 * Resolves at a point in the life of a service, plus a small random delay. For `start`, call it before the service is ready.
 *
 * @param archives counts the archives that were accepted
 */
export async function serviceKillMoment(
  point: ServiceKillPoint,
  host: ServedHost,
  place: ServedPlace,
  random: SeededRandom,
  archives: () => number,
): Promise<void> {
  const jobs = join(place.folder, 'jobs');
  const count = random.between(1, 6);
  switch (point) {
    case 'start':
      return await pause(random.between(0, 1_500));
    case 'load':
      return await pause(random.between(200, 2_500));
    case 'accept':
      await pause(random.between(100, 800));
      await changes(jobs, count);
      return await pause(random.between(0, 6));
    case 'output':
      await pause(random.between(100, 800));
      await changes(jobs, count, 'events.1.jsonl');
      return await pause(random.between(0, 6));
    case 'upload':
      await more(archives, random.between(1, 3));
      await changes(join(place.folder, 'incoming'), count);
      return await pause(random.between(0, 300));
    case 'close':
      await pause(random.between(200, 1_500));
      host.terminate();
      return await pause(random.between(0, 1_500));
  }
}

/** Resolves when a count has grown by a number. */
async function more(count: () => number, number: number): Promise<void> {
  const [startedAt, before] = [performance.now(), count()];
  while (count() < before + number && performance.now() - startedAt < LATEST_ARCHIVE_MS) await pause(10);
}

/** Resolves at the n-th change of a folder, or of files of this name below it. */
async function changes(folder: string, count: number, file?: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const watcher = watch(folder, { recursive: file !== undefined }, (_event, name) => {
    if (file === undefined || name?.endsWith(file) === true) seen += 1;
    if (seen >= count) resolve();
  });
  watcher.on('error', () => resolve());
  const late = setTimeout(resolve, LATEST_MS);
  await promise;
  clearTimeout(late);
  watcher.close();
}
