import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';

/** Which runners a host has. */
export type ChaosRunner = 'local' | 'docker' | 'both';

/** How a host is set up. */
export interface ChaosHostSettings {
  runner: ChaosRunner;
  stateDir: string;
  poolSize: number;
  sweepIntervalMs: number;
  bundle: RuntimeBundle;
}

/** A job as a host is told of it. A session is opened, runs its code once, and is closed. */
export type ChaosJob = { kind: 'exec' | 'session'; jobId: string } & ExecOptions;

/** What a host is told. */
export type HostOrder = { order: 'job'; job: ChaosJob } | { order: 'cancel'; jobId: string } | { order: 'close' };

/** What a host says. */
export type HostWord =
  | { word: 'ready'; owner: string }
  | { word: 'accepted' | 'started'; jobId: string }
  | { word: 'finished'; jobId: string; outcome: JobResult['outcome'] }
  | { word: 'failed'; jobId: string; code: string; message: string }
  | { word: 'closed' };
