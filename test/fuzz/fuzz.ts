import { seededRandom, type SeededRandom } from '../chaos/seeded-random.ts';
import { fuzzArchives } from './fuzz-archives.ts';
import { fuzzCalls } from './fuzz-calls.ts';
import { fuzzChannel } from './fuzz-channel.ts';
import { fuzzConnections } from './fuzz-connections.ts';
import { fuzzEgress } from './fuzz-egress.ts';
import { fuzzFleet, type ScriptedFleet, startScriptedFleet } from './fuzz-fleet.ts';
import { fuzzLink } from './fuzz-link.ts';
import { fuzzProgram } from './fuzz-program.ts';
import { fuzzSchemas } from './fuzz-schemas.ts';
import { fuzzSessions } from './fuzz-sessions.ts';
import { fuzzValues } from './fuzz-values.ts';
import { MISSING_REDIS } from '../fixtures/fleet/redis.ts';
import { missingPython, type PythonZipfile, startPythonZipfile } from './python-zipfile.ts';

/** One kind of case. It throws if the tested code breaks a promise. */
export type FuzzTarget = (random: SeededRandom, peers: FuzzPeers) => Promise<void>;

/** Other programs that take part, if the machine has them. */
export interface FuzzPeers {
  python?: PythonZipfile | undefined;
  fleet?: ScriptedFleet | undefined;
}

/** The targets that run with each seed. */
export const FUZZ_TARGETS: Record<string, FuzzTarget> = {
  channel: fuzzChannel,
  program: fuzzProgram,
  calls: fuzzCalls,
  values: fuzzValues,
  schemas: fuzzSchemas,
  sessions: fuzzSessions,
  archives: fuzzArchives,
  connections: fuzzConnections,
  egress: fuzzEgress,
  link: fuzzLink,
  fleet: fuzzFleet,
};

/** Options of {@link runFuzz}. */
export interface FuzzOptions {
  /** Seed of the first case; each next case has the next number. */
  seed: number;
  seconds: number;
  /** Ends the run after this many cases. */
  cases?: number | undefined;
  onProgress?(line: string): void;
}

/** A failed case. Its seed alone repeats it. */
export interface FuzzFailure {
  target: string;
  seed: number;
  message: string;
}

/** Result of a run. */
export interface FuzzReport {
  cases: number;
  failures: FuzzFailure[];
  /** Skipped comparisons, each with its reason. */
  leftOut: string[];
  grownMib: number;
}

/** Longer than any valid case takes. */
const HANG_MS = 20_000;
const MAX_FAILURES = 10;
const GROWN_MIB = 64;
const PROGRESS_MS = 10_000;

/** Tries seeds until the time is over. An uncaught error is a failure of the current case. */
export async function runFuzz({ seed, seconds, cases: most = Infinity, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const failures: FuzzFailure[] = [];
  const missing = missingPython();
  await using python = missing === undefined ? startPythonZipfile() : undefined;
  await using fleet = MISSING_REDIS === undefined ? await startScriptedFleet() : undefined;
  const end = performance.now() + seconds * 1_000;
  let uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);
  let cases = 0;
  let begun: number | undefined;
  let told = performance.now();
  try {
    for (; cases < most && failures.length < MAX_FAILURES && performance.now() < end; cases += 1) {
      for (const [target, run] of Object.entries(FUZZ_TARGETS)) {
        const errors = await errorsOf(run, seed + cases, { python, fleet });
        // Unhandled rejections arrive a turn later.
        await new Promise((resolve) => setImmediate(resolve));
        for (const error of [...errors, ...uncaught])
          failures.push({
            target,
            seed: seed + cases,
            message: error instanceof Error ? `${error.stack}` : `${error}`,
          });
        uncaught = [];
      }
      // By then the code is loaded and compiled.
      if (cases === 200) begun = heldMib();
      if (performance.now() - told < PROGRESS_MS) continue;
      told = performance.now();
      onProgress?.(`${cases} seeds, ${failures.length} failures`);
    }
  } finally {
    process.off('uncaughtException', onUncaught).off('unhandledRejection', onUncaught);
  }
  const grownMib = begun === undefined ? 0 : heldMib() - begun;
  if (grownMib > GROWN_MIB)
    failures.push({ target: 'all', seed, message: `Memory grew by ${Math.round(grownMib)} MiB over ${cases} seeds.` });
  const leftOut = [
    ...(missing === undefined ? [] : [`archives as Python's zipfile reads them: this machine lacks ${missing}`]),
    ...(MISSING_REDIS === undefined ? [] : [`sessions on the worker of a fleet: this machine lacks ${MISSING_REDIS}`]),
  ];
  return { cases, failures, leftOut, grownMib: Math.round(grownMib) };
}

async function errorsOf(run: FuzzTarget, seed: number, peers: FuzzPeers): Promise<unknown[]> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not end within ${HANG_MS / 1_000} s.`)), HANG_MS);
  });
  try {
    await Promise.race([run(seededRandom(seed), peers), hang]);
    return [];
  } catch (error) {
    return [error];
  } finally {
    clearTimeout(timer);
  }
}

function heldMib(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
