import { type AdmitCall, countToolCalls } from './count-tool-calls.ts';

/** The calls of one job, over all sandboxes that it has. */
export interface CallTally {
  /** Calls that have arrived, and those of tools among them. */
  arrived: number;
  toolsArrived: number;
  /** Counts the calls of each tool. */
  admit: AdmitCall;
  /** The first tool that may have changed something. */
  changedBy: string | undefined;
}

/** Creates the tally of one job. */
export function createCallTally(): CallTally {
  return { arrived: 0, toolsArrived: 0, admit: countToolCalls(), changedBy: undefined };
}
