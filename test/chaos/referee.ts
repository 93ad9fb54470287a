import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';
import { startChaosFleet } from './chaos-fleet.ts';
import { checkResults, createHistory, tallyResults, type Tally } from './history.ts';
import { CHAOS_LEASE_MS, type ChaosHostSettings, type ChaosRunner } from './host-words.ts';
import { KILL_POINTS, killMoment, type KillPoint } from './kill-points.ts';
import { mixedJob, type MixedJob } from './mixed-jobs.ts';
import { outsideView, type SeenProcess } from './outside-view.ts';
import { seededRandom } from './seeded-random.ts';
import { startHost, type StartedHost } from './started-host.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

/** Options of {@link runChaos}. */
export interface ChaosOptions {
  kills: number;
  /** The same seed gives the same jobs and the same points. The timing of the machine varies. */
  seed: number;
  runner: ChaosRunner;
  bundle: RuntimeBundle;
  /** The engine of the hosts; undefined for local runs. */
  engine: Docker | undefined;
  /** Whether the sandboxes are on the worker of a fleet, which has the runner: local or docker. @default false */
  byFleet?: boolean;
  /** Time in which the kernel and the engine must end the processes of a killed host, after the lease of a fleet. @default 1,000 ms */
  endMs?: number;
  onProgress?(line: string): void;
}

/** Result of a run. */
export interface ChaosReport {
  kills: Record<KillPoint, number>;
  tally: Tally;
  /** Of these, jobs of the host that was not killed. */
  steadyJobs: number;
  /**
   * Longest time in milliseconds from a kill until no process of the host and no running container was left. Time in which a process waited for a
   * processor does not count, so other work on the machine does not either.
   */
  slowestEndMs: number;
  /** The same for the median of the kills. */
  medianEndMs: number;
  /** Longest time in milliseconds from the start of the next host until all leftovers were removed. */
  slowestSweepMs: number;
  violations: string[];
  /** The folder with the leftovers, if there are violations. */
  folder: string;
}

const END_MS = 1_000;
const SWEEP_MS = 60_000;
/** Wall-clock limit. A leftover that is still there then counts as permanent. */
const NEVER_MS = 60_000;
const JOBS_A_LIFE = 7;
/** The longest job of {@link mixedJob}, with its start. */
const JOB_MS = 4_000;
/** After this many violations the run ends. */
const ENOUGH = 20;
/** Outcomes that are valid while a host is asked to close. */
const CLOSING: readonly string[] = ['canceled', 'orchestrator.closed', 'session.ended'];

/** Kills hosts and checks, from outside, that no job is lost or doubled and no leftover stays. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { kills, seed, runner, bundle, engine, onProgress } = options;
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
  const stateDir = join(folder, 'state');
  const temporary = join(folder, 'temporary');
  for (const path of [join(stateDir, 'results'), temporary]) mkdirSync(path, { recursive: true });
  const random = seededRandom(seed);
  const history = createHistory(join(folder, 'history.jsonl'));
  const view = outsideView(temporary, engine);
  await using fleet =
    options.byFleet === true && runner !== 'both' ? await startChaosFleet(runner, temporary, engine) : undefined;
  const settings: ChaosHostSettings = {
    ...{ runner, stateDir, bundle, poolSize: 1, sweepIntervalMs: 250, fleetUrl: fleet?.url },
  };
  const report: ChaosReport = {
    kills: Object.fromEntries(KILL_POINTS.map((point) => [point, 0])) as Record<KillPoint, number>,
    tally: { ordered: 0, accepted: 0, finished: 0, failed: 0, canceled: 0, hostLost: 0 },
    steadyJobs: 0,
    slowestEndMs: 0,
    medianEndMs: 0,
    slowestSweepMs: 0,
    violations: [],
    folder,
  };
  const blame = (fault: string): void => {
    report.violations.push(fault);
    history.note({ fault });
    onProgress?.(`VIOLATION: ${fault}`);
  };
  let jobCount = 0;
  const endTimes: number[] = [];

  const order = (host: StartedHost): MixedJob => {
    jobCount += 1;
    const mixed = mixedJob(
      random,
      `job-${seed}-${jobCount}`,
      fleet === undefined ? runner : 'fleet',
      join(folder, 'outputs'),
    );
    history.ordered(mixed);
    host.send({ order: 'job', job: mixed.job });
    if (mixed.cancel) void cancelOnceStarted(host, mixed.job.jobId, random.between(0, 300));
    return mixed;
  };

  /** Compares the words of a host about its jobs with the expectations. */
  const judge = (host: StartedHost, closing: boolean): void => {
    history.heard(host.words);
    for (const word of host.words) {
      if (word.word !== 'finished' && word.word !== 'failed') continue;
      const { expected, cancel } = history.jobs.get(word.jobId)?.mixed ?? { expected: undefined, cancel: false };
      const outcome = word.word === 'finished' ? word.outcome : word.code;
      const excused = closing && (CLOSING.includes(outcome) || cancel);
      if (outcome !== expected && !excused) {
        blame(`job ${word.jobId} is ${outcome} instead of ${expected}${'message' in word ? `: ${word.message}` : ''}`);
      }
    }
  };

  /** Waits until no process and no container of a killed host runs. A fleet has the sandboxes of other hosts as well, which end by themselves. */
  const awaitEnd = async (owner: string, family: readonly SeenProcess[]): Promise<void> => {
    const onWorker = await fleet?.running();
    const endMs = (options.endMs ?? END_MS) + (fleet === undefined ? 0 : CHAOS_LEASE_MS + JOB_MS);
    const killedAt = performance.now();
    const elapsedMs = startQuietClock();
    let last: string[] = [];
    for (;;) {
      const left = [
        ...view.processes(owner, family),
        ...(await view.runningContainers(owner)),
        ...((await onWorker?.left()) ?? []),
      ];
      const tookMs = elapsedMs();
      if (left.length === 0) {
        endTimes.push(tookMs);
        if (tookMs > endMs)
          blame(`a killed host's sandboxes lived on for ${Math.round(tookMs)} ms: ${last.join(', ')}`);
        return;
      }
      if (performance.now() - killedAt > NEVER_MS) {
        const there = [...view.threads(owner, family), ...(await view.runningContainers(owner))];
        return blame(`still there ${NEVER_MS} ms after the kill of ${owner}: ${there.join(', ')}`);
      }
      last = left;
      await pause(10);
    }
  };

  const dead = new Map<string, string[]>();
  /** Waits until the sweep of a living host has removed the leftovers of dead hosts. */
  const awaitSweep = async (): Promise<void> => {
    const startedAt = performance.now();
    for (const owner of [...dead.keys()]) {
      let left = await view.leftovers(owner);
      while (left.length > 0 && performance.now() - startedAt < SWEEP_MS) {
        await pause(25);
        left = await view.leftovers(owner);
      }
      if (left.length > 0) blame(`not swept: ${left.join(', ')}`);
      dead.delete(owner);
    }
    report.slowestSweepMs = Math.max(report.slowestSweepMs, performance.now() - startedAt);
  };
  /** A ready host has settled the accepted jobs of dead hosts. */
  const checkSettled = (): void => {
    for (const [owner, ids] of dead) {
      for (const fault of checkResults(stateDir, ids, history)) blame(fault);
      const torn = [stateDir, join(stateDir, 'results')]
        .flatMap((path) => readdirSync(path))
        .filter((name) => name.includes(owner));
      if (torn.length > 0) blame(`a dead host's files are still there: ${torn.join(', ')}`);
    }
  };

  const awaitReady = async (host: StartedHost): Promise<void> => {
    await host.until((words) => words.some(({ word }) => word === 'ready'));
    const said = host.words.find((word) => word.word === 'ready');
    if (said === undefined) throw new Error(`A host ended before it was ready: ${host.complaint()}`);
    if (said.owner !== host.owner) blame(`a host takes itself for ${said.owner} instead of ${host.owner}`);
  };

  // It never sweeps, so each new host must remove the leftovers at its start.
  const steady = await startHost({ ...settings, sweepIntervalMs: 0 }, temporary);
  await awaitReady(steady);
  let steadyEnds = false;
  const feedSteady = (async () => {
    while (!steadyEnds && report.violations.length < ENOUGH) {
      const { job } = order(steady);
      report.steadyJobs += 1;
      await steady.until((words) =>
        words.some(
          (word) =>
            ('outcome' in word && word.jobId === job.jobId) || (word.word === 'failed' && word.jobId === job.jobId),
        ),
      );
    }
  })();

  for (let number = 1; number <= kills && report.violations.length < ENOUGH; number += 1) {
    const point = random.pick(KILL_POINTS);
    const host = await startHost(settings, temporary);
    const ids: string[] = [];
    if (point !== 'start') {
      await awaitReady(host);
      checkSettled();
      const moment = killMoment(point, host, random, { stateDir, engine, owner: fleet?.owner ?? host.owner });
      while (ids.length < JOBS_A_LIFE) ids.push(order(host).job.jobId);
      // A closing host stops sweeping.
      const sweeps = point !== 'close' && random.between(0, 1) === 1;
      await Promise.all([moment, sweeps ? awaitSweep() : undefined]);
    } else await killMoment(point, host, random, { stateDir, engine, owner: host.owner });
    const family = await host.kill();
    report.kills[point] += 1;
    await awaitEnd(host.owner, family);
    const code = await host.ended;
    judge(host, point === 'close');
    if (code !== null) blame(`a host ended with ${code} before it was killed: ${host.complaint()}`);
    dead.set(host.owner, ids);
    history.note({ killed: host.owner, point, number });
    if (number % 10 === 0)
      onProgress?.(`${number} kills, ${history.jobs.size} jobs, ${report.violations.length} violations`);
  }

  steadyEnds = true;
  await feedSteady;
  const last = await startHost(settings, temporary);
  await awaitReady(last);
  checkSettled();
  await awaitSweep();
  for (const host of [steady, last]) {
    host.send({ order: 'close' });
    await host.until((words) => words.some(({ word }) => word === 'closed'));
    judge(host, false);
    await host.kill();
    await host.ended;
    const left = await view.leftovers(host.owner);
    if (left.length > 0) blame(`a host that was closed has left: ${left.join(', ')}`);
  }
  if (fleet !== undefined) {
    const end = performance.now() + SWEEP_MS;
    let left = await fleet.leftovers();
    for (; left.length > 0 && performance.now() < end; left = await fleet.leftovers()) await pause(250);
    if (left.length > 0) blame(`left on the worker: ${left.join(', ')}`);
  }
  for (const fault of checkResults(stateDir, history.jobs.keys(), history)) blame(fault);
  const { tally, faults } = tallyResults(stateDir, history);
  for (const fault of faults) blame(fault);
  const files = [...readdirSync(stateDir), ...readdirSync(temporary)].filter((name) => name !== 'results');
  if (files.length > 0) blame(`left at the end: ${files.join(', ')}`);
  if (report.violations.length === 0) rmSync(folder, { recursive: true });
  endTimes.sort((a, b) => a - b);
  const medianEndMs = endTimes[Math.floor(endTimes.length / 2)] ?? 0;
  return { ...report, tally, medianEndMs, slowestEndMs: endTimes.at(-1) ?? 0 };
}

async function cancelOnceStarted(host: StartedHost, jobId: string, delayMs: number): Promise<void> {
  await host.until((words) => words.some((word) => word.word === 'started' && word.jobId === jobId));
  await pause(delayMs);
  host.send({ order: 'cancel', jobId });
}
