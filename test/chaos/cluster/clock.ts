import { globSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';

const HOUR_S = 3_600;
const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketime.so.1');

/** Why no clock can be changed here; undefined where it can. */
export const MISSING_FAKETIME: string | undefined =
  LIBRARY === undefined ? 'faketime (`apt-get install faketime`)' : undefined;

/** The clock on the wall, as the processes of one host see it. Monotonic clocks go right, as on a real machine. */
export interface HostClock {
  /** Environment of the processes. */
  readonly env: Record<string, string>;
  /** Sets it off by seconds. Processes notice within two seconds. */
  set(seconds: number): void;
}

/** Creates a clock that goes right. It is kept in a file. */
export function createClock(file: string): HostClock {
  const set = (seconds: number): void => {
    // Written whole: a process may read it at any time.
    writeFileSync(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${file}.new`, file);
  };
  set(0);
  const library = LIBRARY ?? '';
  return {
    env: {
      // With the memory of the C library: faketime and the one of Redis wait for each other as they begin.
      LD_PRELOAD: `${library}:${join(dirname(library), '../libc.so.6')}`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
    },
    set,
  };
}

/** A clock that is an hour off for a time. It goes wrong in one direction, and then in the other as it is set right. */
export function planWrongClock(
  random: SeededRandom,
  [least, most]: readonly [number, number],
): { about: string; inject(place: { clock: HostClock }): Promise<void> } {
  const seconds = random.pick([HOUR_S, -HOUR_S]);
  const waitMs = random.between(least, most);
  return {
    about: `by ${seconds} s for ${waitMs} ms`,
    async inject({ clock }) {
      clock.set(seconds);
      await pause(waitMs);
      clock.set(0);
    },
  };
}
