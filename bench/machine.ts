import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** The machine of a measurement. */
export interface Machine {
  platform: string;
  processor: string;
  processors: number;
  memoryMib: number;
  node: string;
  /** Mean number of busy processes in the minute before the run. */
  load: number;
}

/** Describes this machine. */
export function describeMachine(): Machine {
  return {
    platform: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: availableParallelism(),
    memoryMib: Math.round(totalmem() / 1024 / 1024),
    node: process.version,
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}
