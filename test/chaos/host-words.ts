import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';

/** The runners of a host. */
export type ChaosRunner = 'local' | 'docker' | 'both';

/** Settings of a host. */
export interface ChaosHostSettings {
  runner: ChaosRunner;
  stateDir: string;
  poolSize: number;
  sweepIntervalMs: number;
  bundle: RuntimeBundle;
}

/** A job as the host receives it. A session is opened, runs its code once, and is closed. */
export type ChaosJob = { kind: 'exec' | 'session'; jobId: string } & ExecOptions;

/** A message to a host. */
export type HostOrder = { order: 'job'; job: ChaosJob } | { order: 'cancel'; jobId: string } | { order: 'close' };

/** A message from a host. */
export type HostWord =
  | { word: 'ready'; owner: string }
  | { word: 'accepted' | 'started'; jobId: string }
  | { word: 'finished'; jobId: string; outcome: JobResult['outcome'] }
  | { word: 'failed'; jobId: string; code: string; message: string }
  | { word: 'closed' };
