import type { JobResult } from '../../contracts/jobs/result.ts';

/** What one run of an eval has left. */
export interface RunProduct {
  result: JobResult;
  /** Bytes of its artifacts, by path. */
  files: ReadonlyMap<string, Uint8Array>;
}

/** An assertion that is ready to be checked: gives why it does not hold, or `undefined` where it does. */
export type AssertionCheck = (product: RunProduct) => string | undefined | Promise<string | undefined>;

/** An assertion of an eval. */
export interface Assertion {
  /** What a report calls it. */
  text: string;
  /** Absent for prose. */
  check?: AssertionCheck;
}

/** A check that could not be made: nothing is known of what it is about. */
export class CheckUnmade extends Error {
  override readonly name = 'CheckUnmade';
}
