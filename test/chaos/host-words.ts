import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';

/** The runners of a host. */
export type ChaosRunner = 'local' | 'docker' | 'both';

/** Lease of a host that uses a fleet: the shortest. */
export const CHAOS_LEASE_MS = 1_000;

/** Settings of a host. */
export interface ChaosHostSettings {
  runner: ChaosRunner;
  stateDir: string;
  poolSize: number;
  sweepIntervalMs: number;
  bundle: RuntimeBundle;
  /** Address of a fleet, whose workers have the runner; undefined if the host has it. */
  fleetUrl?: string | undefined;
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
