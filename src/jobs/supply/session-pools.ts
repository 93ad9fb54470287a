import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { DEFAULT_LANGUAGE, type Language } from '../../contracts/jobs/language.ts';
import { DEFAULT_LIMITS } from '../../contracts/jobs/limits.ts';
import { createWarmPool, type WarmPool } from '../../sandboxes/pool/warm-pool.ts';
import type { Runner, SandboxLimits } from '../../sandboxes/runner.ts';
import { sandboxLimits } from '../../sandboxes/sandbox-limits.ts';
import { createJobQueue, type JobQueue } from './job-queue.ts';
import type { Refusal } from './no-sandbox.ts';
import type { PoolMetrics, PoolOptions } from '../orchestrator.ts';
import { sandboxPlaces, type SandboxPlace } from './sandbox-places.ts';
import type { SandboxSession } from './sandbox-session.ts';
import type { SessionStarter } from './session-starter.ts';
import { startAtFirst, type FoundSandbox } from './start-at-first.ts';

/** Maximum number of concurrent warm starts over all languages: more would take processors from jobs. */
const PARALLEL_STARTS = 2;

/** Demand of a job on the pools. */
export interface WarmWish {
  places: readonly SandboxPlace[];
  language: Language;
  limits: SandboxLimits;
}

/** The warm sandboxes of one orchestrator: one pool for each language. */
export interface SessionPools {
  /** Takes a waiting sandbox with these limits at the first possible place, if there is one. */
  take(wish: WarmWish): SandboxSession | undefined;
  /** Waits for such a sandbox that is being started now, if there is one. */
  next(wish: WarmWish, signal: AbortSignal): Promise<FoundSandbox | undefined>;
  /**
   * Records a job that started cold although there is a pool for it. A pool that waits after failures tries again at once.
   *
   * @returns the reason, if the job can change it
   */
  missed(wish: WarmWish): Diagnostic[];
  filled(): Promise<void>;
  metrics(): Promise<Record<string, PoolMetrics>>;
  close(): Promise<void>;
}

/** Options of {@link createSessionPools}. */
export interface SessionPoolsOptions {
  pool: PoolOptions;
  runners: readonly Runner[];
  allowUnisolated: boolean;
  starter: SessionStarter;
  /** Whether the code of skills runs in some of the sandboxes. */
  skillCode: boolean;
  /** Whether jobs may have a network. */
  network: boolean;
  isBusy(): boolean;
  onFailure(error: unknown): void;
}

/** Creates the pools and begins to fill them. */
export function createSessionPools(options: SessionPoolsOptions): SessionPools {
  const { isolation, languages = [DEFAULT_LANGUAGE], size } = options.pool;
  const limits = sandboxLimits({ ...DEFAULT_LIMITS, ...options.pool.limits });
  const demand = { runner: 'auto' as const, isolation };
  const places = sandboxPlaces(demand, options).filter(
    ({ runner, isolation: level }) => runner.isRemote !== true && (isolation ?? level) === level,
  );
  const starts = createJobQueue(PARALLEL_STARTS, Infinity);
  const refused = new WeakMap<SandboxSession, Refusal[]>();
  const startWarm = async (language: Language, signal: AbortSignal): Promise<SandboxSession> => {
    const wish = { ...demand, places, runners: options.runners, language, limits };
    const { session, refusals } = await startAtFirst(options.starter, wish, signal);
    refused.set(session, refusals);
    return session;
  };
  const pools = new Map<Language, WarmPool<SandboxSession>>(
    size === 0 || places.length === 0
      ? []
      : languages.map((language) => [language, openPool(options, starts, (signal) => startWarm(language, signal))]),
  );
  /** The pool of the wished language, if it has one of the wished places. */
  const poolFor = (wish: WarmWish): WarmPool<SandboxSession> | undefined =>
    wish.places.some((place) => places.some((own) => isSame(own, place))) ? pools.get(wish.language) : undefined;

  const fittingPool = (wish: WarmWish): WarmPool<SandboxSession> | undefined =>
    differences(limits, wish.limits).length === 0 ? poolFor(wish) : undefined;

  return {
    take(wish) {
      const pool = fittingPool(wish);
      for (const place of wish.places) {
        const session = pool?.take((waiting) => isAt(waiting, place));
        session?.sandbox.ref?.();
        if (session !== undefined) return session;
      }
      return undefined;
    },
    async next(wish, signal) {
      const isWished = (session: SandboxSession): boolean => wish.places.some((place) => isAt(session, place));
      const session = await fittingPool(wish)?.next(isWished, signal);
      if (session === undefined) return undefined;
      const isPlace = (row: Refusal): boolean => wish.places.some((place) => isSame(place, row));
      return { session, warm: false, refusals: (refused.get(session) ?? []).filter(isPlace) };
    },
    missed(wish) {
      const pool = poolFor(wish);
      if (pool === undefined) return [];
      pool.retry();
      const rows = differences(limits, wish.limits);
      if (rows.length === 0) {
        pool.missed();
        return [];
      }
      const message = `No warm sandbox has the limits of this job: ${rows.join(', ')}.`;
      return [diagnostic('pool.limits-differ', message)];
    },
    async filled() {
      await Promise.all([...pools.values()].map((pool) => pool.filled()));
    },
    async metrics() {
      const rows = [...pools].map(async ([language, pool]) => {
        const idleBytes = (await pool.sample()?.sandbox.memoryBytes()) ?? null;
        return [language, { ...pool.counts(), idleBytes }] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

function openPool(
  { pool, starter, isBusy, onFailure, skillCode, network }: SessionPoolsOptions,
  starts: JobQueue,
  start: (signal: AbortSignal) => Promise<SandboxSession>,
): WarmPool<SandboxSession> {
  const rehearsal = { codegen: pool.codegen ?? false, skillCode, network };
  return createWarmPool<SandboxSession>({
    size: pool.size,
    enter: (signal) => starts.enter(signal),
    start,
    async prepare(session, signal) {
      await starter.rehearse(session, rehearsal, signal);
      session.sandbox.unref?.();
    },
    destroy: (session) => session.sandbox.kill('the pool lets it go'),
    // The channel's end is the signal: the engine may report the end of the sandbox later, or never.
    onEnd: ({ sandbox: { channel } }, ended) => {
      if (channel.closed) ended();
      else channel.once('close', ended);
    },
    check: (session) => starter.rehearse(session, rehearsal),
    parallelStarts: PARALLEL_STARTS,
    isBusy,
    onFailure,
    ...(pool.checkIntervalMs === undefined ? {} : { checkIntervalMs: pool.checkIntervalMs }),
    ...(pool.idleMs === undefined ? {} : { idleMs: pool.idleMs }),
  });
}

function isSame(a: SandboxPlace, b: SandboxPlace): boolean {
  return a.runner === b.runner && a.isolation === b.isolation;
}

function isAt({ sandbox }: SandboxSession, { runner, isolation }: SandboxPlace): boolean {
  return sandbox.runner === runner.name && sandbox.isolation === isolation;
}

/** Limits of a job that differ from the pool, with both values. */
function differences(pool: SandboxLimits, job: SandboxLimits): string[] {
  return Object.entries(pool).flatMap(([name, value]) => {
    const wanted = job[name as keyof SandboxLimits];
    return wanted === value ? [] : [`${name} ${wanted}, in the pool ${value}`];
  });
}
