import type { Language } from '../contracts/job.ts';
import { DEFAULT_LIMITS, type JobLimits } from '../contracts/limits.ts';
import { ISOLATION_LEVELS, type Isolation, type RunnerName } from '../contracts/result.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import type { Runner, SandboxLimits, SandboxSpec } from '../runners/runner.ts';
import { createWarmPool, type WarmPool } from '../runners/warm-pool.ts';
import { createJobQueue } from './job-queue.ts';
import type { PoolMetrics, PoolOptions } from './orchestrator.ts';
import { openSession, type SandboxSession } from './sandbox-session.ts';

/** What a job demands of its sandbox. */
export interface SandboxDemand {
  runner: 'auto' | RunnerName;
  /** The least that is acceptable; undefined for the default. */
  isolation: Isolation | undefined;
  language: Language;
  limits: JobLimits;
}

/** Gives sandboxes to jobs: warm ones where the demand fits, else freshly started ones. */
export interface SandboxSupply {
  take(demand: SandboxDemand, signal: AbortSignal): Promise<{ session: SandboxSession; warm: boolean }>;
  filled(): Promise<void>;
  metrics(): Promise<Partial<Record<Language, PoolMetrics>>>;
  close(): Promise<void>;
}

/** Options of {@link createSandboxSupply}. */
export interface SandboxSupplyOptions {
  runners: readonly Runner[];
  allowUnisolated: boolean;
  pool: PoolOptions;
  isBusy(): boolean;
  onFailure(error: unknown): void;
}

/** A sandbox is ready in a fraction of a second; on a machine under load in a few. */
const READY_MS = 20_000;
/** Warm sandboxes that are started at once, for all languages together: more would take the machine from its jobs. */
const PARALLEL_STARTS = 2;

/** Creates the supply of one orchestrator. */
export function createSandboxSupply(options: SandboxSupplyOptions): SandboxSupply {
  const pools = new Map<string, WarmPool<SandboxSession>>();
  const poolOf = new Map<Language, WarmPool<SandboxSession>>();
  const starts = createJobQueue(PARALLEL_STARTS, Infinity);
  const leaving = new Set<Promise<unknown>>();

  /** Ends a sandbox that is of no use, beside whoever wanted it: what holds it may be what does not answer. */
  const dismiss = ({ sandbox }: SandboxSession): void => {
    const entry: Promise<unknown> = sandbox
      .kill('it did not become ready')
      .catch(options.onFailure)
      .finally(() => leaving.delete(entry));
    leaving.add(entry);
  };

  const startSession = async (runner: Runner, spec: SandboxSpec, signal: AbortSignal): Promise<SandboxSession> => {
    const startedAt = performance.now();
    return openSession(await runner.start(spec, { signal }), startedAt);
  };

  /** Also the question whether it lives: a sandbox that answers has done once more what jobs do. */
  const rehearse = async (session: SandboxSession, signal: AbortSignal): Promise<void> => {
    await beforeDeadline(session, session.rehearse(options.pool.codegen ?? false), signal, dismiss);
  };

  const startReady = async (runner: Runner, spec: SandboxSpec, signal: AbortSignal): Promise<SandboxSession> => {
    const leave = await starts.enter(signal);
    try {
      const session = await startSession(runner, spec, signal);
      await untilReady(session, signal, dismiss);
      await rehearse(session, signal);
      return session;
    } finally {
      leave();
    }
  };

  const pooled = options.pool.size > 0 ? pooledRunner(options) : undefined;
  if (pooled !== undefined) {
    const limits = sandboxLimits({ ...DEFAULT_LIMITS, ...options.pool.limits });
    const isolation = options.pool.isolation ?? pooled.levels[0] ?? 'namespace';
    for (const language of options.pool.languages ?? ['javascript']) {
      const spec: SandboxSpec = { isolation, language, limits };
      const pool = createWarmPool<SandboxSession>({
        size: options.pool.size,
        start: (signal) => startReady(pooled, spec, signal),
        destroy: (session) => session.sandbox.kill('the pool lets it go'),
        // The end of its channel: what the engine says of its end may take longer, or not come at all.
        onEnd: ({ sandbox: { channel } }, ended) => {
          if (channel.closed) ended();
          else channel.once('close', ended);
        },
        check: (session) => rehearse(session, NEVER),
        parallelStarts: PARALLEL_STARTS,
        isBusy: options.isBusy,
        onFailure: options.onFailure,
        ...(options.pool.checkIntervalMs === undefined ? {} : { checkIntervalMs: options.pool.checkIntervalMs }),
        ...(options.pool.idleMs === undefined ? {} : { idleMs: options.pool.idleMs }),
      });
      poolOf.set(language, pool);
      pools.set(keyOf(pooled.name, spec), pool);
    }
  }

  return {
    async take(demand, signal) {
      const refusals: unknown[] = [];
      for (const [runner, isolation] of candidates(demand, options)) {
        const spec: SandboxSpec = { isolation, language: demand.language, limits: sandboxLimits(demand.limits) };
        const pool = pools.get(keyOf(runner.name, spec));
        const warm = pool?.take();
        if (warm !== undefined) return { session: warm, warm: true };
        try {
          const session = await startUsable(() => startSession(runner, spec, signal), signal, dismiss);
          pool?.retry();
          return { session, warm: false };
        } catch (error) {
          signal.throwIfAborted();
          if (!isPassedOver(error, demand)) throw error;
          refusals.push(error);
        }
      }
      if (refusals.length === 1) throw refusals[0];
      if (refusals.length > 1) throw refusedByAll(refusals, demand);
      throw new SkillcellError(
        demand.runner === 'docker' ? 'runner.unavailable' : 'runner.isolation-unmet',
        `Cannot start a sandbox: no runner here reaches what was asked for, got ${demand.isolation ?? 'namespace'} on ${demand.runner}.`,
      );
    },
    async filled() {
      await Promise.all([...pools.values()].map((pool) => pool.filled()));
    },
    async metrics() {
      const rows = [...poolOf].map(async ([language, pool]) => {
        const idleBytes = (await pool.sample()?.sandbox.memoryBytes()) ?? null;
        return [language, { ...pool.counts(), idleBytes }] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      await Promise.all(leaving);
    },
  };
}

/** What cannot be aborted. */
const NEVER = new AbortController().signal;

/** The first runner that has the level of the pool. */
function pooledRunner({ runners, pool }: SandboxSupplyOptions): Runner | undefined {
  return runners.find(({ levels }) => pool.isolation === undefined || levels.includes(pool.isolation)) ?? runners[0];
}

type Dismiss = (session: SandboxSession) => void;

/**
 * A level that cannot be had shows itself at its first start: bubblewrap ends before the entry speaks. That is the
 * probe, made with the sandbox that the job will use.
 */
async function startUsable(
  start: () => Promise<SandboxSession>,
  signal: AbortSignal,
  dismiss: Dismiss,
): Promise<SandboxSession> {
  const session = await start();
  try {
    await untilReady(session, signal, dismiss);
    return session;
  } catch (cause) {
    if (
      SkillcellError.isInstance(cause) &&
      cause.code === 'sandbox.start-failed' &&
      /bwrap|setpriv|unshare/.test(cause.message)
    ) {
      throw new SkillcellError('runner.isolation-unmet', cause.message, { cause });
    }
    throw cause;
  }
}

/** Waits until a sandbox is ready, but neither for ever nor for a job that is canceled; one that is not is ended. */
async function untilReady(session: SandboxSession, signal: AbortSignal, dismiss: Dismiss): Promise<void> {
  await beforeDeadline(session, session.ready, signal, dismiss);
}

async function beforeDeadline(
  session: SandboxSession,
  step: Promise<void>,
  signal: AbortSignal,
  dismiss: Dismiss,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const other = new Promise<never>((_resolve, reject) => {
    const message = `Cannot start a sandbox: it was not ready within ${READY_MS / 1000} s.`;
    timer = setTimeout(() => reject(new SkillcellError('sandbox.start-failed', message)), READY_MS);
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([step, other]);
  } catch (error) {
    dismiss(session);
    throw error;
  } finally {
    clearTimeout(timer);
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

function* candidates(demand: SandboxDemand, options: SandboxSupplyOptions): Generator<[Runner, Isolation]> {
  const least = demand.isolation ?? (options.allowUnisolated ? 'none' : 'namespace');
  for (const runner of options.runners) {
    if (demand.runner !== 'auto' && demand.runner !== runner.name) continue;
    for (const level of runner.levels) {
      // Level none is taken only by who names it, or where nothing better can be had and the caller allows that.
      if (demand.isolation === 'none' && demand.runner !== 'docker' && level !== 'none') continue;
      if (rank(level) >= rank(least)) yield [runner, level];
    }
  }
}

function rank(isolation: Isolation): number {
  return ISOLATION_LEVELS.indexOf(isolation);
}

/** No runner would do: all their reasons, since each can be mended. */
function refusedByAll(refusals: readonly unknown[], { isolation }: SandboxDemand): SkillcellError {
  const reasons = refusals.map((refusal) => (refusal as Error).message).join(' ');
  const message = `Cannot start a sandbox at level ${isolation ?? 'namespace'} or better. ${reasons}`;
  return new SkillcellError('runner.isolation-unmet', message);
}

/** What makes `auto` look at the next runner. Who names a runner gets that one, or its error. */
const PASSED_OVER: readonly string[] = ['runner.isolation-unmet', 'engine.unavailable', 'image.missing', 'image.stale'];

function isPassedOver(error: unknown, demand: SandboxDemand): boolean {
  if (!SkillcellError.isInstance(error)) return false;
  return error.code === 'runner.isolation-unmet' || (demand.runner === 'auto' && PASSED_OVER.includes(error.code));
}

function sandboxLimits({ memoryMib, cpus, pids, workspaceMib, workspaceInodes }: SandboxLimits): SandboxLimits {
  return { memoryMib, cpus, pids, workspaceMib, workspaceInodes };
}

function keyOf(runner: RunnerName, { isolation, language, limits }: SandboxSpec): string {
  return [runner, isolation, language, ...Object.values(limits)].join(' ');
}
