import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../fixtures/free-port.ts';
import type { PostgresServer } from '../../fixtures/postgres.ts';
import { outsideView } from '../outside-view.ts';
import { seededRandom } from '../seeded-random.ts';
import { judgeService, type ServiceTally } from './judge-service.ts';
import { adminToken, isReady, type ServedHost, type ServedPlace, startServedHost } from './served-host.ts';
import { serviceCaller, type ServiceCaller } from './service-calls.ts';
import { createServiceHistory } from './service-history.ts';
import { SERVICE_KILL_POINTS, serviceKillMoment, type ServiceKillPoint } from './service-kill-points.ts';
import { startServiceLoad } from './service-load.ts';
import { query, storedRows } from './stored-state.ts';

/** Options of {@link runServiceChaos}. */
export interface ServiceChaosOptions {
  kills: number;
  /** The same seed gives the same jobs and the same points. The timing of the machine varies. */
  seed: number;
  /** Server of the database, which is restarted now and then; undefined for SQLite. */
  postgres?: PostgresServer | undefined;
  onProgress?(line: string): void;
  /** Changes the state after a judgement without faults; a second judgement follows. For controls of the referee. */
  plant?(scene: PlantScene): Promise<void>;
}

/** The state of a service, to plant a violation in. */
export interface PlantScene {
  place: ServedPlace;
  /** Folder for the marks of programs. */
  marks: string;
  /** The owner of the sandboxes of the service. */
  owner: string;
  query(text: string): Promise<unknown>;
}

/** Result of a run. */
export interface ServiceChaosReport {
  kills: Record<ServiceKillPoint, number>;
  /** Restarts of PostgreSQL. */
  databaseRestarts: number;
  tally: ServiceTally;
  violations: string[];
  /** Faults of the judgement after a violation was planted. */
  planted: string[];
  /** The folder with the leftovers, if there are violations. */
  folder: string;
}

const USERS = 3;
/** Wall-clock limit for a step that must come. */
const NEVER_MS = 120_000;
/** Jobs of a run without kills. */
const CALM_ORDERS = 40;
const KEPT_SKILLS = 3;
/** After this many violations the run ends. */
const ENOUGH = 20;

/** Kills services under load, and checks from outside that each accepted job has one end, and that no row, folder or process is left over. */
export async function runServiceChaos(options: ServiceChaosOptions): Promise<ServiceChaosReport> {
  const { kills, seed, postgres, onProgress = () => undefined } = options;
  const folder = mkdtempSync(join(tmpdir(), 'service-chaos-'));
  const [state, temporary, marks] = ['state', 'temporary', 'marks'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [state, temporary, marks]) mkdirSync(path);
  const databaseUrl = postgres?.create(`chaos_${seed}`);
  const place: ServedPlace = { folder: state, port: await freePort(), databaseUrl, temporary };
  const random = seededRandom(seed);
  const history = createServiceHistory(join(folder, 'history.jsonl'), onProgress);
  const view = outsideView(temporary, undefined);
  const killed = Object.fromEntries(SERVICE_KILL_POINTS.map((point) => [point, 0])) as ServiceChaosReport['kills'];
  const away: { from: number; until: number }[] = [];
  const dead = new Set<string>();
  let databaseRestarts = 0;
  const isAway = (sentAt: number): boolean => away.some(({ until }) => sentAt <= until);
  /** From now on, 503 is right, until the returned function is called. */
  const goAway = (): (() => void) => {
    const time = { from: performance.now(), until: Number.POSITIVE_INFINITY };
    away.push(time);
    return () => void (time.until = performance.now());
  };

  const awaitReady = async (host: ServedHost): Promise<void> => {
    if (!(await host.ready())) throw new Error(`A service ended before it was ready: ${host.complaint()}`);
  };
  /** Waits until no process of a killed service is left. */
  const awaitEnd = async (owner: string, family: ReturnType<ServedHost['kill']>): Promise<void> => {
    const killedAt = performance.now();
    for (;;) {
      const left = view.processes(owner, family);
      if (left.length === 0) return;
      if (performance.now() - killedAt > NEVER_MS)
        return history.blame(`still there after the kill of ${owner}: ${view.threads(owner, family).join(', ')}`);
      await pause(10);
    }
  };
  /** Waits until a living service has removed what dead ones have left. */
  const awaitSweep = async (): Promise<void> => {
    const startedAt = performance.now();
    for (const owner of dead) {
      let left = await view.leftovers(owner);
      while (left.length > 0 && performance.now() - startedAt < NEVER_MS) {
        await pause(50);
        left = await view.leftovers(owner);
      }
      if (left.length > 0) history.blame(`not swept: ${left.join(', ')}`);
    }
  };
  /** The service reports no failure of its own. */
  const checkLog = (host: ServedHost): void => {
    const failures = host
      .complaint()
      .split('\n')
      .filter((line) => line.startsWith('{"level":50'));
    if (failures.length > 0) history.blame(`a service has failed ${failures.length} times: ${failures[0]}`);
  };
  const restartDatabase = async (server: PostgresServer): Promise<void> => {
    const back = goAway();
    await server.stop();
    await pause(random.between(0, 1_500));
    await server.start();
    while (!(await isReady(place.port))) await pause(10);
    back();
    databaseRestarts += 1;
  };

  const first = await startServedHost(place);
  await awaitReady(first);
  const callers = await createUsers(place, { isAway, blame: history.blame });
  const load = startServiceLoad({ random, history, callers, marks });
  let host = first;
  for (let number = 1; number <= kills && history.violations.length < ENOUGH; number += 1) {
    const point = random.pick(SERVICE_KILL_POINTS);
    if (point === 'start' && host === first) await pause(500);
    const back = goAway();
    if (point !== 'start' && point !== 'close') back();
    if (point !== 'start') {
      await awaitReady(host);
      if (postgres !== undefined && random.between(0, 1) === 0) await restartDatabase(postgres);
    }
    await serviceKillMoment(point, host, place, random, () =>
      history.skills.reduce((sum, { sure }) => sum + sure.size, 0),
    );
    const family = host.kill();
    await awaitEnd(host.owner, family);
    const code = await host.ended;
    back();
    // A service that was asked to end may have done so.
    if (code !== null && !(point === 'close' && code === 143))
      history.blame(`a service ended with ${code} before it was killed: ${host.complaint()}`);
    checkLog(host);
    killed[point] += 1;
    dead.add(host.owner);
    history.note({ killed: host.owner, point, number });
    if (number % 10 === 0)
      onProgress(`${number} kills, ${history.jobs.size} jobs, ${history.violations.length} faults`);
    host = await startServedHost(place);
  }

  await awaitReady(host);
  // Without kills there would be no load, and a few quick kills may leave no time for a skill.
  const keptSkills = (): number =>
    history.skills.filter(({ sure, removed }) => sure.size > 0 && removed === 'no').length;
  while ((kills === 0 && history.orders.length < CALM_ORDERS) || keptSkills() < KEPT_SKILLS) await pause(50);
  await load.stop();
  await awaitAllEnded(place, history.blame);
  await awaitSweep();
  const concurrency = Math.max(2, availableParallelism());
  const evidence = { place, history, callers, marks, mostLost: concurrency * kills };
  const { faults, tally } = await judgeService(evidence);
  for (const fault of faults) history.blame(fault);
  await options.plant?.({ place, marks, owner: host.owner, query: (text) => query(place, text) });
  const planted = options.plant === undefined ? [] : (await judgeService(evidence)).faults;
  host.terminate();
  const code = await host.ended;
  if (code !== 143) history.blame(`the service ended with ${code}: ${host.complaint()}`);
  checkLog(host);
  const left = await view.leftovers(host.owner);
  if (left.length > 0) history.blame(`a service that has ended has left: ${left.join(', ')}`);
  const { violations } = history;
  if (violations.length === 0) rmSync(folder, { recursive: true });
  return { kills: killed, databaseRestarts, tally, violations, planted, folder };
}

/** The first admin, and members. */
async function createUsers(
  { folder, port }: ServedPlace,
  about: Pick<Parameters<typeof serviceCaller>[0], 'isAway' | 'blame'>,
): Promise<ServiceCaller[]> {
  const callerOf = (token: string): ServiceCaller => serviceCaller({ ...about, port, token });
  const admin = callerOf(adminToken(folder) ?? '');
  const callers = [admin];
  for (let number = 1; number < USERS; number += 1) {
    const answer = await admin.call('/users', { body: { name: `user-${number}`, role: 'member' } });
    callers.push(callerOf(String(answer?.json?.token?.token)));
  }
  return callers;
}

/** Waits until every job has ended. */
async function awaitAllEnded(place: ServedPlace, blame: (fault: string) => void): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const { jobs } = await storedRows(place);
    const open = jobs.filter(({ state }) => state !== 'finished');
    if (open.length === 0) return;
    if (performance.now() - startedAt > NEVER_MS) {
      for (const { id, state } of open) blame(`job ${id} is forgotten: it is ${state}`);
      return;
    }
    await pause(50);
  }
}
