import type { JobLimits } from '../../../contracts/jobs/limits.ts';
import { type CommandContext, flagValue } from '../flags/command.ts';
import { parseNumber } from '../flags/parse-number.ts';

const POOL = { minimum: 0, maximum: 100, unit: 'sandboxes' };
const SANDBOX_LIMITS = ['memoryMib', 'cpus', 'pids', 'workspaceMib', 'workspaceInodes'] as const;

/** Reads `--pool N`; the sandboxes have the limits of the flags. */
export function poolFromFlags(
  { arguments: given }: CommandContext,
  limits: Partial<JobLimits>,
): { size: number; limits: object } {
  const text = flagValue(given, 'pool');
  const ofSandboxes = Object.fromEntries(
    SANDBOX_LIMITS.flatMap((name) => (name in limits ? [[name, limits[name]]] : [])),
  );
  return { size: text === undefined ? 0 : parseNumber('--pool', text, POOL), limits: ofSandboxes };
}
