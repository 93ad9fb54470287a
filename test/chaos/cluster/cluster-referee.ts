import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, shuffled } from '../seeded-random.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { CLUSTER_FAULTS, type ClusterFault, FLEET_FAULTS, HARMLESS_FAULTS, planFault } from './cluster-faults.ts';
import { makeOtherBuild } from './other-build.ts';
import { type ClusterTally, hostLeftovers, judgeHistories, redisLeftovers } from './judge-cluster.ts';

/** Options of {@link runCluster}. */
export interface ClusterRunOptions {
  workers: number;
  clients: number;
  /** Faults in all. */
  kills: number;
  /** The same seed gives the same jobs and the same faults. The timing of the machine varies. */
  seed: number;
  /** Most seconds of faults. @default no limit */
  seconds?: number | undefined;
  /** Kinds of faults. @default all */
  faults?: readonly ClusterFault[];
  onProgress?(line: string): void;
  /** Looks at the cluster when all jobs have ended. */
  look?(cluster: Cluster): void;
  /** Changes the state after a judgement without faults; a second judgement follows. For controls of the referee. */
  plant?(cluster: Cluster): Promise<void>;
}

/** Result of a run. */
export interface ClusterReport {
  faults: Record<ClusterFault, number>;
  tally: ClusterTally;
  violations: string[];
  /** Faults of the judgement after violations were planted. */
  planted: string[];
  /** The folder with histories and logs, if there are violations. */
  folder: string;
}

const LEASE_MS = 3_000;
/** Of a run that may lose no attempt: a busy machine keeps such a lease. */
const LONG_LEASE_MS = 15_000;
/** Time in which all must be well again. */
const WELL_MS = 60_000;
/** Faults at once. */
const MOST_AT_ONCE = 2;
/** Time for jobs before the first fault. */
const BEGIN_MS = 3_000;
/** After this many violations the run ends. */
const ENOUGH = 20;

/** Runs a fleet under load and faults, and checks from outside that each accepted job has its one right end, and that nothing is left. */
export async function runCluster(options: ClusterRunOptions): Promise<ClusterReport> {
  const { kills, seed, seconds = Number.POSITIVE_INFINITY, onProgress = () => undefined } = options;
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const random = seededRandom(seed);
  const violations: string[] = [];
  const note = (text: string): void => appendFileSync(join(folder, 'referee.log'), `${Date.now()} ${text}\n`);
  const blame = (fault: string): void => {
    violations.push(fault);
    note(`VIOLATION: ${fault}`);
    onProgress(`VIOLATION: ${fault}`);
  };
  const kinds = options.faults ?? CLUSTER_FAULTS;
  const isHarmless = kinds.every((kind) => HARMLESS_FAULTS.has(kind));
  const leaseMs = isHarmless ? LONG_LEASE_MS : LEASE_MS;
  using otherBuild = kinds.includes('upgrade') ? await makeOtherBuild() : undefined;
  using _removed = {
    [Symbol.dispose]: () => violations.length === 0 && rmSync(folder, { recursive: true }),
  };
  await using cluster = await startCluster({ ...options, folder, leaseMs, otherBuild, blame });
  const counts = Object.fromEntries(CLUSTER_FAULTS.map((kind) => [kind, 0])) as ClusterReport['faults'];
  const underWay = new Set<Promise<void>>();
  const allReady = async (): Promise<void> => {
    const seats = [...cluster.workers, ...cluster.clients].filter(({ isRunning }) => isRunning);
    await Promise.all(seats.map((seat) => seat.ready()));
  };
  await allReady();
  await pause(BEGIN_MS);
  const until = performance.now() + seconds * 1_000;
  let number = 0;
  // Each kind has its turn before one comes again.
  let turns: ClusterFault[] = [];
  while (number < kills && performance.now() < until && violations.length < ENOUGH) {
    while (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    if (turns.length === 0) turns = shuffled(random, kinds);
    const [kind] = turns as [ClusterFault];
    if (FLEET_FAULTS.has(kind)) await Promise.all(underWay);
    const fault = planFault(kind, cluster, random, { leaseMs, blame });
    const waitMs = random.between(200, 3_000);
    if (fault !== undefined) {
      turns.shift();
      number += 1;
      counts[fault.kind] += 1;
      note(`fault ${number}: ${fault.about}`);
      const injected: Promise<void> = fault.inject().finally(() => {
        underWay.delete(injected);
        note(`well again: ${fault.about}`);
      });
      underWay.add(injected);
      if (number % 10 === 0) onProgress(`${number} faults, ${violations.length} violations`);
    }
    await pause(waitMs);
  }
  await Promise.all(underWay);
  await allReady();

  note('all is well again');
  const ends = cluster.clients.map(async (client) => {
    const code = await within(client.end('SIGTERM'));
    if (code !== 0) blame(`${client.name} ${endOf(code)}`);
  });
  await Promise.all(ends);
  options.look?.(cluster);
  const { faults, tally } = judgeHistories(cluster);
  if (isHarmless && tally.restarts + tally.lost > 0)
    blame(`${tally.restarts} attempts and ${tally.lost} jobs were lost, though no fault loses any`);
  for (const fault of [...faults, ...(await lastLeftovers(cluster))]) blame(fault);
  let planted: string[] = [];
  if (options.plant !== undefined) {
    await options.plant(cluster);
    planted = [...judgeHistories(cluster).faults, ...(await leftovers(cluster))];
  }
  await Promise.all(
    cluster.workers
      .filter(({ isRunning }) => isRunning)
      .map(async (worker) => {
        const code = await within(worker.end('SIGTERM'));
        if (code !== 0) blame(`${worker.name} ${endOf(code)}`);
      }),
  );
  if (options.plant === undefined) for (const fault of await lastLeftovers(cluster)) blame(fault);
  return { faults: counts, tally, violations, planted, folder };
}

function endOf(code: number | null | undefined): string {
  return code === undefined ? `did not end in ${WELL_MS} ms` : `has ended with ${code}`;
}

/** The exit code of a process; undefined if it runs on. */
async function within(end: Promise<number | null>): Promise<number | null | undefined> {
  const late = new AbortController();
  const over = pause(WELL_MS, undefined, { signal: late.signal }).catch(() => undefined);
  const code = await Promise.race([end, over]);
  late.abort();
  return code;
}

async function leftovers(cluster: Cluster): Promise<string[]> {
  return [...(await hostLeftovers([...cluster.workers, ...cluster.clients])), ...redisLeftovers(cluster)];
}

/** The leftovers that stay. */
async function lastLeftovers(cluster: Cluster): Promise<string[]> {
  const startedAt = performance.now();
  for (;;) {
    const left = await leftovers(cluster);
    if (left.length === 0 || performance.now() - startedAt > WELL_MS) return left;
    await pause(250);
  }
}
