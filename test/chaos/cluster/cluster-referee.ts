import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, shuffled } from '../seeded-random.ts';
import { type Cluster, type Seat, startCluster } from './cluster.ts';
import { CLUSTER_FAULTS, type ClusterFault, FLEET_FAULTS, HARMLESS_FAULTS, planFault } from './cluster-faults.ts';
import type { ClusterRunner } from './cluster-process.ts';
import { makeOtherBuild } from './other-build.ts';
import { type ClusterTally, hostLeftovers, judgeHistories, redisLeftovers } from './judge-cluster.ts';
import { judgeReplicas, type ServiceTally } from './service/judge-replicas.ts';
import {
  HARMLESS_SERVICE_FAULTS,
  isServiceFault,
  planServiceFault,
  SERVICE_FAULTS,
  type ServiceFault,
} from './service/service-faults.ts';

/** A kind of fault of the fleet, or of the service on it. */
export type AnyFault = ClusterFault | ServiceFault;

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
  /** Replicas of a service on the same fleet. @default 0 */
  replicas?: number | undefined;
  /** What starts the sandboxes of workers. @default 'local' */
  runner?: ClusterRunner | undefined;
  /** Kinds of faults. @default all */
  faults?: readonly AnyFault[];
  onProgress?(line: string): void;
  /** Looks at the cluster when all jobs have ended. */
  look?(cluster: Cluster): void;
  /** Changes the state after a judgement without faults; a second judgement follows. For controls of the referee. */
  plant?(cluster: Cluster): Promise<void>;
}

/** Result of a run. */
export interface ClusterReport {
  faults: Record<AnyFault, number>;
  tally: ClusterTally;
  /** How the jobs of the service ended, if there are replicas. */
  service: ServiceTally | undefined;
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
/** Time in which the users of a service get the ends of their jobs: some begin again, after a lease, up to three times. */
const USERS_MS = 240_000;
/** Exit code of a service that was asked to end. */
const SERVICE_ENDED = 143;
/** Faults of what a local runner uses: its disk, and a build without an image. */
const OF_LOCAL: ReadonlySet<AnyFault> = new Set(['full-disk', 'upgrade', 'upgrade-replicas']);
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
  const allKinds = faultsOf(options);
  const kinds = options.faults ?? allKinds;
  const isHarmless = kinds.every((kind) => isHarmlessFault(kind));
  const leaseMs = isHarmless ? LONG_LEASE_MS : LEASE_MS;
  using otherBuild = kinds.includes('upgrade') ? await makeOtherBuild() : undefined;
  using _removed = {
    [Symbol.dispose]: () => violations.length === 0 && rmSync(folder, { recursive: true }),
  };
  await using cluster = await startCluster({ ...options, folder, leaseMs, otherBuild, blame });
  const counts = Object.fromEntries(allKinds.map((kind) => [kind, 0])) as ClusterReport['faults'];
  const underWay = new Set<Promise<void>>();
  const allReady = async (): Promise<void> => {
    const { replicas: served = [], users = [] } = cluster.service ?? {};
    const seats = [...cluster.workers, ...cluster.clients, ...served, ...users].filter(({ isRunning }) => isRunning);
    await Promise.all(seats.map((seat) => seat.ready()));
  };
  await allReady();
  await pause(BEGIN_MS);
  const until = performance.now() + seconds * 1_000;
  let number = 0;
  // Each kind has its turn before one comes again.
  let turns: AnyFault[] = [];
  while (number < kills && performance.now() < until && violations.length < ENOUGH) {
    while (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    if (turns.length === 0) turns = shuffled(random, kinds);
    const [kind] = turns as [AnyFault];
    if (isOfAll(kind)) await Promise.all(underWay);
    const fault = isServiceFault(kind)
      ? cluster.service && planServiceFault(kind, cluster.service, random, blame)
      : planFault(kind, cluster, random, { leaseMs, blame });
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
  const { service } = cluster;
  const leave = async (seats: readonly Seat[], expected: number, ms = WELL_MS): Promise<void> => {
    await Promise.all(
      seats.map(async (seat) => {
        const code = await within(seat.end('SIGTERM'), ms);
        if (code !== expected) blame(`${seat.name} ${endOf(code, ms)}`);
      }),
    );
  };
  await Promise.all([leave(cluster.clients, 0), leave(service?.users ?? [], 0, USERS_MS)]);
  options.look?.(cluster);
  const { faults, tally } = judgeHistories(cluster);
  if (isHarmless && tally.restarts + tally.lost > 0)
    blame(`${tally.restarts} attempts and ${tally.lost} jobs were lost, though no fault loses any`);
  const served = service && (await judgeReplicas(service));
  if (isHarmless && served !== undefined && served.tally.restarts + served.tally.lost > 0)
    blame(`${served.tally.restarts} attempts and ${served.tally.lost} jobs of the service were lost without need`);
  for (const fault of [...faults, ...(served?.faults ?? []), ...(await lastLeftovers(cluster))]) blame(fault);
  let planted: string[] = [];
  if (options.plant !== undefined) {
    await options.plant(cluster);
    const again = service && (await judgeReplicas(service));
    planted = [...judgeHistories(cluster).faults, ...(again?.faults ?? []), ...(await leftovers(cluster))];
  }
  await leave(service?.replicas ?? [], SERVICE_ENDED);
  for (const seat of service?.replicas ?? [])
    for (const left of service?.programs(seat) ?? []) blame(`${seat.name} has left a program: ${left}`);
  await leave(
    cluster.workers.filter(({ isRunning }) => isRunning),
    0,
  );
  if (options.plant === undefined) for (const fault of await lastLeftovers(cluster)) blame(fault);
  return { faults: counts, tally, service: served?.tally, violations, planted, folder };
}

/** The kinds of faults that a cluster can have. */
export function faultsOf({
  replicas = 0,
  runner,
}: Pick<ClusterRunOptions, 'replicas' | 'runner'>): readonly AnyFault[] {
  const all: readonly AnyFault[] = [...CLUSTER_FAULTS, ...(replicas > 0 ? SERVICE_FAULTS : [])];
  return runner === 'docker' ? all.filter((kind) => !OF_LOCAL.has(kind)) : all;
}

function isHarmlessFault(kind: AnyFault): boolean {
  return isServiceFault(kind) ? HARMLESS_SERVICE_FAULTS.has(kind) : HARMLESS_FAULTS.has(kind);
}

/** Whether a fault takes all places of a kind. */
function isOfAll(kind: AnyFault): boolean {
  return isServiceFault(kind) ? kind === 'upgrade-replicas' : FLEET_FAULTS.has(kind);
}

function endOf(code: number | null | undefined, ms: number): string {
  return code === undefined ? `did not end in ${ms} ms` : `has ended with ${code}`;
}

/** The exit code of a process; undefined if it runs on. */
async function within(end: Promise<number | null>, ms: number): Promise<number | null | undefined> {
  const late = new AbortController();
  const over = pause(ms, undefined, { signal: late.signal }).catch(() => undefined);
  const code = await Promise.race([end, over]);
  late.abort();
  return code;
}

async function leftovers(cluster: Cluster): Promise<string[]> {
  const { replicas = [] } = cluster.service ?? {};
  const seats = [...cluster.workers, ...cluster.clients, ...replicas];
  return [...(await hostLeftovers(seats, cluster.engine)), ...redisLeftovers(cluster)];
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
