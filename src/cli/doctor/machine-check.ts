/** One thing that jobs need, or profit from. */
export interface MachineCheck {
  id: string;
  ok: boolean;
  /** Whether no isolated job runs without it. */
  needed: boolean;
  /** What was found. */
  found: string;
  /** What to do when it is not there. */
  advice?: string;
}
