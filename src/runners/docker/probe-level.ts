import { DEFAULT_LIMITS } from '../../contracts/limits.ts';
import type { RunnerReport, Sandbox, SandboxSpec } from '../runner.ts';
import { callEngine } from './engine.ts';

type Start = (spec: SandboxSpec, options: { signal: AbortSignal }) => Promise<Sandbox>;

/** Finds out whether containers of level `container` start, by really starting one. */
export async function probeContainer(start: Start): Promise<RunnerReport> {
  return await probe(start, 'container', []);
}

/** Finds out whether containers of level `kernel` start, by really starting one. */
export async function probeKernel(start: Start, runtime: string): Promise<RunnerReport> {
  return await probe(start, 'kernel', [
    `runtime ${runtime}: inodes are not limited, and a fork or memory bomb ends the whole sandbox`,
  ]);
}

async function probe(start: Start, isolation: 'container' | 'kernel', notes: string[]): Promise<RunnerReport> {
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
    const { memoryMib, cpus, pids, workspaceMib, workspaceInodes } = DEFAULT_LIMITS;
    const spec: SandboxSpec = {
      isolation,
      language: 'javascript',
      limits: { memoryMib, cpus, pids, workspaceMib, workspaceInodes },
    };
    const sandbox = await start(spec, { signal: AbortSignal.timeout(10_000) });
    try {
      await callEngine(
        'hear from a container',
        () => new Promise<void>((resolve) => sandbox.channel.once('data', () => resolve())),
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
