import { type AdmitCall, countToolCalls } from './count-tool-calls.ts';

/** The calls of one job, over all sandboxes that it has. */
export interface CallTally {
  /** Calls that have arrived, and those of tools among them. */
  arrived: number;
  toolsArrived: number;
  /** Counts the calls of each tool. */
  admit: AdmitCall;
  /** Whether calls of tools and of the model may begin, as soon as that is known. */
  mayCall(): boolean | Promise<boolean>;
  /** The first tool that may have changed something. */
  readonly changedBy: string | undefined;
  /** Notes that a tool may change something. Undefined if the call need not wait. */
  change(tool: string): Promise<void> | undefined;
}

/** Conditions that the host of a job sets for its calls. */
export interface CallGuard {
  /** Called before the first call that may change something, which waits for it, and fails with it. */
  beforeChange?: ((tool: string) => Promise<void>) | undefined;
  /** Whether calls of tools and of the model may begin, as soon as that is known. @default they may */
  mayCall?: (() => boolean | Promise<boolean>) | undefined;
}

/** Creates the tally of one job. */
export function createCallTally({ beforeChange, mayCall = () => true }: CallGuard = {}): CallTally {
  let changedBy: string | undefined;
  let noted: Promise<void> | undefined;
  return {
    arrived: 0,
    toolsArrived: 0,
    admit: countToolCalls(),
    mayCall,
    get changedBy() {
      return changedBy;
    },
    change(tool) {
      if (changedBy === undefined) {
        changedBy = tool;
        noted = beforeChange?.(tool);
      }
      return noted;
    },
  };
}
