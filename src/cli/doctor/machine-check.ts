/** A requirement of jobs, or an optional aid. */
export interface MachineCheck {
  id: string;
  ok: boolean;
  /** Whether isolated jobs cannot run without it. */
  needed: boolean;
  /** The version or the state that was found. */
  found: string;
  /** Advice for the user if it is missing. */
  advice?: string;
}
