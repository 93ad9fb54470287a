import type { RunnerName } from '../contracts/result.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import type { Runner, SweepReport } from '../runners/runner.ts';

/** What a sweep of several runners removed. */
export interface SweepSummary extends SweepReport {
  /** Runners that are not to be had here now, such as an engine that does not run. */
  skipped: { runner: RunnerName; reason: string }[];
}

/** Sweeps all runners; one that is not to be had keeps no other one from it. */
export async function sweepRunners(runners: readonly Runner[]): Promise<SweepSummary> {
  const summary: SweepSummary = { removed: [], failed: [], skipped: [] };
  const sweep = async (runner: Runner): Promise<void> => {
    try {
      const { removed, failed } = await runner.sweep();
      summary.removed.push(...removed);
      summary.failed.push(...failed);
    } catch (error) {
      if (!SkillcellError.isInstance(error) || error.code !== 'engine.unavailable') throw error;
      summary.skipped.push({ runner: runner.name, reason: error.message });
    }
  };
  await Promise.all(runners.map(sweep));
  return summary;
}
