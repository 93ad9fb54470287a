import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Runner } from '../../sandboxes/runner.ts';
import { sandboxLimits } from '../../sandboxes/sandbox-limits.ts';
import { passedOver } from './no-sandbox.ts';
import type { PoolMetrics, PoolOptions } from '../orchestrator.ts';
import { type SandboxDemand, type SandboxPlace, sandboxPlaces } from './sandbox-places.ts';
import type { SandboxSession } from './sandbox-session.ts';
import { createSessionPools } from './session-pools.ts';
import { createSessionStarter } from './session-starter.ts';
import { startAtFirst } from './start-at-first.ts';

/** A sandbox for one job. */
export interface SuppliedSandbox {
  session: SandboxSession;
  warm: boolean;
  /** Why it is not at the job's preferred place, or not warm. */
  diagnostics: Diagnostic[];
}

/** Gives sandboxes to jobs: a warm sandbox if one fits the demand, else a newly started one. */
export interface SandboxSupply {
  /** @param onWaiting called with the reason if there is no sandbox for a while */
  take(demand: SandboxDemand, signal: AbortSignal, onWaiting?: (reason: string) => void): Promise<SuppliedSandbox>;
  filled(): Promise<void>;
  metrics(): Promise<Record<string, PoolMetrics>>;
  close(): Promise<void>;
}

/** Options of {@link createSandboxSupply}. */
export interface SandboxSupplyOptions {
  /** In order of preference. */
  runners: readonly Runner[];
  allowUnisolated: boolean;
  pool: PoolOptions;
  /** Whether the code of skills runs in some of the sandboxes. */
  skillCode: boolean;
  /** Whether jobs may have a network. */
  network: boolean;
  isBusy(): boolean;
  onFailure(error: unknown): void;
}

/** Creates the supply of one orchestrator. */
export function createSandboxSupply(options: SandboxSupplyOptions): SandboxSupply {
  const starter = createSessionStarter(options.onFailure);
  const pools = createSessionPools({ ...options, starter });
  return {
    async take({ runner, isolation, language, limits: jobLimits }, signal, onWaiting) {
      const places = sandboxPlaces({ runner, isolation }, options);
      const limits = sandboxLimits(jobLimits);
      const takeAt = (some: readonly SandboxPlace[]): SandboxSession | undefined =>
        pools.take({ places: some, language, limits });
      // A warm sandbox that isolates enough goes before a preferred cold one. A warm sandbox without isolation is used only
      // after all isolating places have failed.
      const isolating = places.filter((place) => place.isolation !== 'none' || isolation === 'none');
      const warm = takeAt(isolating);
      if (warm !== undefined) return { session: warm, warm: true, diagnostics: [] };
      // A sandbox that the pool is already starting is ready sooner than a new one, and two starts would compete for processors.
      const next = await pools.next({ places: isolating, language, limits }, signal);
      const wish = { runner, isolation, places, runners: options.runners, language, limits, onWaiting };
      const found = next ?? (await startAtFirst(starter, { ...wish, waiting: (place) => takeAt([place]) }, signal));
      const missed = found.warm ? [] : pools.missed(wish);
      // A runner that has started it at another level was taken.
      const elsewhere = found.refusals.filter((row) => row.runner.name !== found.session.sandbox.runner);
      const isWarm = found.warm || found.session.sandbox.warm === true;
      return { session: found.session, warm: isWarm, diagnostics: [...passedOver(elsewhere), ...missed] };
    },
    filled: () => pools.filled(),
    metrics: () => pools.metrics(),
    async close() {
      await pools.close();
      await starter.settled();
    },
  };
}
