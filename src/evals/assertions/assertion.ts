import type { JobResult } from '../../contracts/jobs/result.ts';

/** The output of one run of an eval. */
export interface RunProduct {
  result: JobResult;
  /** Bytes of its artifacts, by path. */
  files: ReadonlyMap<string, Uint8Array>;
}

/** A compiled assertion: gives the reason why it does not hold, or `undefined` if it holds. */
export type AssertionCheck = (product: RunProduct) => string | undefined | Promise<string | undefined>;

/** An assertion of an eval. */
export interface Assertion {
  /** Name in a report. */
  text: string;
  /** Absent for prose. */
  check?: AssertionCheck;
}

/** Thrown when a check cannot be made. Its assertion then neither passes nor fails. */
export class CheckUnmade extends Error {
  override readonly name = 'CheckUnmade';
}
