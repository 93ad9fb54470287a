import type { Measurement } from './measurement.ts';

/** What a group is run with. */
export interface BenchmarkOptions {
  /** Samples of each number; without it every benchmark takes as many as its spread needs. */
  samples: number | undefined;
  /** Whether a row is wanted. */
  wants(id: string): boolean;
  progress(text: string): void;
}

/** Benchmarks that share their baseline and are measured in turns. */
export interface BenchmarkGroup {
  ids: readonly string[];
  run(options: BenchmarkOptions): Promise<Measurement[]>;
}
