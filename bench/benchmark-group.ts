import type { Measurement } from './measurement.ts';

/** Options of a group's run. */
export interface BenchmarkOptions {
  /** Samples of each number; if undefined, each benchmark's own default. */
  samples: number | undefined;
  /** Whether a row was requested. */
  wants(id: string): boolean;
  progress(text: string): void;
}

/** Benchmarks that share their baseline and are measured in turns. */
export interface BenchmarkGroup {
  ids: readonly string[];
  run(options: BenchmarkOptions): Promise<Measurement[]>;
}
