import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../contracts/jobs/result.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { RunnerReport } from '../runner.ts';
import { type OpenFleet, ROWS_MS } from './open-fleet.ts';
import type { WorkerRow } from './worker-rows.ts';

type Limits = RunnerReport['limits'];
const NO_LIMITS: Limits = { memory: 'none', cpus: 'none', pids: 'none', workspace: 'none', inodes: 'none' };

/** How a level's limits are enforced by a worker, or why no worker has the level. */
export type LevelOffers = (level: Isolation) => Limits | string;

/** The workers of one queue, as a client looks for them. */
export interface FleetWorkers {
  /**
   * Waits for a worker with a level and the client's build.
   *
   * @throws SkillcellError `runner.isolation-unmet` or `runner.unavailable` if no worker is worth waiting for; errors of Redis
   */
  find(fleet: OpenFleet, level: Isolation, signal: AbortSignal): Promise<void>;
  /** Aborts with the same error when the workers of a level are gone, until the other signal aborts. */
  gone(fleet: OpenFleet, level: Isolation, until: AbortSignal): AbortSignal;
  offers(fleet: OpenFleet): Promise<LevelOffers>;
}

/** Looks for the workers of a queue. The row of a worker that was there a lease ago may come back. */
export function createFleetWorkers(queue: string, leaseMs: number): FleetWorkers {
  /** Time when a worker was last seen, by level. */
  const seenAt = new Map<Isolation, number>();

  const fitting = async (fleet: OpenFleet): Promise<WorkerRow[]> =>
    (await fleet.rows()).filter((row) => row.queue === queue && !row.draining);
  const isThere = async (fleet: OpenFleet, level: Isolation): Promise<boolean> => {
    const rows = await fitting(fleet);
    const now = performance.now();
    const isHere = rows.some((row) => row.isolation === level && row.build === fleet.build);
    if (isHere) seenAt.set(level, now);
    if (isHere) return true;
    const seen = seenAt.get(level);
    // The row of a worker may be lost with all that Redis holds, and comes back within a lease.
    if (seen !== undefined && now - Math.max(seen, fleet.link.upSince) <= leaseMs) return false;
    throw noWorker(queue, level, fleet.build, rows);
  };
  return {
    async find(fleet, level, signal) {
      while (!(await withinDeadline(isThere(fleet, level), { signal })))
        await pause(ROWS_MS, undefined, { signal, ref: false });
    },
    gone(fleet, level, until) {
      const none = new AbortController();
      const watch = async (): Promise<void> => {
        while (!until.aborted) {
          await isThere(fleet, level).catch((error: unknown) => {
            // Without a connection there is no news of workers.
            if (!until.aborted && SkillcellError.isInstance(error)) none.abort(error);
          });
          await pause(ROWS_MS, undefined, { signal: until, ref: false }).catch(() => undefined);
        }
      };
      void watch();
      return none.signal;
    },
    async offers(fleet) {
      const rows = await fitting(fleet);
      return (level) =>
        rows.find((row) => row.isolation === level && row.build === fleet.build)?.limits ??
        noWorker(queue, level, fleet.build, rows).message;
    },
  };
}

/** The report of a runner by the offers of its workers, strongest level first. */
export function reportLevels(runner: string, levels: readonly Isolation[], offers: LevelOffers): RunnerReport[] {
  const strength = (level: Isolation): number => ISOLATION_LEVELS.indexOf(level);
  return levels
    .toSorted((a, b) => strength(b) - strength(a))
    .map((isolation) => {
      const offer = offers(isolation);
      return typeof offer === 'string'
        ? { runner, isolation, available: false, reasons: [offer], limits: NO_LIMITS }
        : { runner, isolation, available: true, reasons: [], limits: offer };
    });
}

function noWorker(queue: string, level: Isolation, build: string, rows: readonly WorkerRow[]): SkillcellError {
  const names = (some: readonly WorkerRow[], of: (row: WorkerRow) => string): string =>
    [...new Set(some.map(of))].toSorted().join(', ');
  const atLevel = rows.filter((row) => row.isolation === level);
  if (rows.length === 0)
    return new SkillcellError(
      'runner.unavailable',
      `Cannot start a sandbox: no worker of the queue ${queue} is in the fleet.`,
    );
  if (atLevel.length === 0) {
    const message = `Cannot start a sandbox: no worker of the queue ${queue} has level ${level}, only ${names(rows, ({ isolation: own }) => own)}.`;
    return new SkillcellError('runner.isolation-unmet', message);
  }
  const builds = names(atLevel, (row) => row.build);
  const message = `Cannot start a sandbox: the workers of the queue ${queue} have the build ${builds}, and this client has ${build}.`;
  return new SkillcellError('runner.unavailable', message);
}
