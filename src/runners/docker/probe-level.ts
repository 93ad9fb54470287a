import { DEFAULT_LANGUAGE } from '../../contracts/language.ts';
import { DEFAULT_LIMITS } from '../../contracts/limits.ts';
import type { RunnerReport, Sandbox, SandboxSpec } from '../runner.ts';
import { sandboxLimits } from '../sandbox-limits.ts';
import { CALL_MS, callEngine } from './engine.ts';

/** How long a container may take to start. */
const START_MS = 10_000;

type Start = (spec: SandboxSpec, options: { signal: AbortSignal }) => Promise<Sandbox>;

/** Finds out whether containers of level `container` start, by really starting one. */
export async function probeContainer(start: Start, signal?: AbortSignal): Promise<RunnerReport> {
  return await probe(start, signal, 'container', []);
}

/** Finds out whether containers of level `kernel` start, by really starting one. */
export async function probeKernel(start: Start, runtime: string, signal?: AbortSignal): Promise<RunnerReport> {
  return await probe(start, signal, 'kernel', [
    `runtime ${runtime}: inodes are not limited, and a fork or memory bomb ends the whole sandbox`,
  ]);
}

async function probe(
  start: Start,
  signal: AbortSignal | undefined,
  isolation: 'container' | 'kernel',
  notes: string[],
): Promise<RunnerReport> {
  const limits = { memory: 'kernel', cpus: 'kernel', pids: 'kernel', workspace: 'kernel' } as const;
  const inodes = isolation === 'kernel' ? 'none' : 'kernel';
  const report: RunnerReport = {
    runner: 'docker',
    isolation,
    available: true,
    reasons: notes,
    limits: { ...limits, inodes },
  };
  try {
    const spec: SandboxSpec = { isolation, language: DEFAULT_LANGUAGE, limits: sandboxLimits(DEFAULT_LIMITS) };
    const overdue = AbortSignal.timeout(START_MS);
    const sandbox = await start(spec, { signal: signal === undefined ? overdue : AbortSignal.any([signal, overdue]) });
    try {
      await callEngine(
        'hear from a container',
        () => new Promise<void>((resolve) => sandbox.channel.once('data', () => resolve())),
        CALL_MS,
        signal,
      );
    } finally {
      await sandbox.kill('the probe is over');
    }
  } catch (error) {
    report.available = false;
    report.reasons.push(error instanceof Error ? error.message : String(error));
  }
  return report;
}
