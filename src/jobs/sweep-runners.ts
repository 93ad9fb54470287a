import type { RunnerName } from '../contracts/jobs/result.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Runner, SweepReport } from '../sandboxes/runner.ts';

/** Result of a sweep of several runners. */
export interface SweepSummary extends Omit<SweepReport, 'skipped'> {
  /** Runners that could not look for leftovers, for example on a machine without an engine. */
  skipped: { runner: RunnerName; reason: string }[];
}

/** Sweeps all runners. A SkillcellError of one runner goes into `failed`; the reports of the other runners are kept. */
export async function sweepRunners(runners: readonly Runner[]): Promise<SweepSummary> {
  const summary: SweepSummary = { removed: [], failed: [], skipped: [] };
  const sweep = async (runner: Runner): Promise<void> => {
    try {
      const { removed, failed, skipped } = await runner.sweep();
      summary.removed.push(...removed);
      summary.failed.push(...failed);
      if (skipped !== undefined) summary.skipped.push({ runner: runner.name, reason: skipped });
    } catch (error) {
      if (!SkillcellError.isInstance(error)) throw error;
      summary.failed.push({ kind: 'runner', name: runner.name, reason: error.message });
    }
  };
  await Promise.all(runners.map(sweep));
  return summary;
}
