import type { Orchestrator } from '../../jobs/orchestrator.ts';
import type { RunnerReport } from '../../sandboxes/runner.ts';

/** Common programs that use a job's network; npm and pip also install its packages. */
export const NETWORK_CLIENTS = ['curl', 'git', 'npm', 'pip'] as const;

/** Prints the name of each client. pip is a module of Python, and its command may be missing. */
const CODE = `for name in curl git npm; do if command -v "$name" >/dev/null; then echo "$name"; fi; done
if python3 -c 'import pip' 2>/dev/null; then echo pip; fi`;

/** Runs a job at a level, and returns the programs of `NETWORK_CLIENTS` that it finds; null if the job fails. */
export async function networkClients(
  orchestrator: Orchestrator,
  { runner, isolation }: RunnerReport,
  signal: AbortSignal,
): Promise<string[] | null> {
  // The rest of the report stands without it.
  const job = orchestrator.exec({ language: 'bash', code: CODE, runner, isolation, signal });
  const { outcome, stdout } = await job.catch(() => ({ outcome: 'failed', stdout: { text: '' } }));
  if (outcome !== 'succeeded') return null;
  const names = new Set(stdout.text.split('\n'));
  return NETWORK_CLIENTS.filter((name) => names.has(name));
}
