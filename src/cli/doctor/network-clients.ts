import type { Orchestrator } from '../../jobs/orchestrator.ts';
import type { RunnerReport } from '../../sandboxes/runner.ts';

/** Common programs that reach a job's network; docs/network.md says how each is used. */
export const NETWORK_CLIENTS = ['curl', 'git', 'npm', 'pip'] as const;

/** A name stands for a program; pip is a module of the Python that runs jobs. */
const CODE = `for name in curl git npm; do if command -v "$name" >/dev/null; then echo "$name"; fi; done
if python3 -c 'import pip' 2>/dev/null; then echo pip; fi`;

/** The programs of `NETWORK_CLIENTS` that jobs of a level have, told by such a job; undefined if it fails. */
export async function networkClients(
  orchestrator: Orchestrator,
  { runner, isolation }: RunnerReport,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const job = orchestrator.exec({ language: 'bash', code: CODE, runner, isolation, signal });
  const { outcome, stdout } = await job.catch(() => ({ outcome: 'failed', stdout: { text: '' } }));
  if (outcome !== 'succeeded') return undefined;
  const names = new Set(stdout.text.split('\n'));
  return NETWORK_CLIENTS.filter((name) => names.has(name));
}
