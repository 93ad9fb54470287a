import type { Isolation } from '../contracts/jobs/result.ts';
import { DEFAULT_LANGUAGE } from '../contracts/jobs/language.ts';
import { DEFAULT_LIMITS } from '../contracts/jobs/limits.ts';
import type { RunnerReport, Sandbox, SandboxSpec } from './runner.ts';
import { sandboxLimits } from './sandbox-limits.ts';

/**
 * Checks whether a level is available by starting a sandbox with the default limits. A failure becomes a further reason in the report.
 *
 * @param report the report of the level if a sandbox starts
 * @param start starts a sandbox
 * @param answered resolves when the sandbox has answered
 */
export async function probeByStarting<Level extends Isolation>(
  report: Omit<RunnerReport, 'available' | 'isolation'> & { isolation: Level },
  start: (spec: SandboxSpec & { isolation: Level }) => Promise<Sandbox>,
  answered: (sandbox: Sandbox) => Promise<void>,
): Promise<RunnerReport> {
  const { isolation } = report;
  try {
    const sandbox = await start({ isolation, language: DEFAULT_LANGUAGE, limits: sandboxLimits(DEFAULT_LIMITS) });
    try {
      await answered(sandbox);
    } finally {
      await sandbox.kill('the probe is over');
    }
    return { ...report, available: true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...report, available: false, reasons: [...report.reasons, reason] };
  }
}
