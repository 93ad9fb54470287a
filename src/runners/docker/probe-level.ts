import type { RunnerReport, Sandbox, SandboxSpec } from '../runner.ts';
import { probeByStarting } from '../probe-by-starting.ts';
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
  const overdue = AbortSignal.timeout(START_MS);
  const until = signal === undefined ? overdue : AbortSignal.any([signal, overdue]);
  const heard = async ({ channel }: Sandbox): Promise<void> => {
    const word = (): Promise<void> => new Promise((resolve) => channel.once('data', () => resolve()));
    await callEngine('hear from a container', word, CALL_MS, signal);
  };
  const report = { runner: 'docker', isolation, reasons: notes, limits: { ...limits, inodes } } as const;
  return await probeByStarting(report, (spec) => start(spec, { signal: until }), heard);
}
