/** Work of a host that runs jobs. */
export interface JobWork {
  /** Claims the next job and starts it; undefined if no job waits. Neither promise rejects. */
  claim(): Promise<{ ended: Promise<void> } | undefined>;
  /** Claimed jobs that wait for a sandbox. */
  readonly starting: number;
  /** Cancels a running job of this host. */
  cancel(id: string, reason: string): void;
}

/** Tells the hosts about waiting jobs, and about jobs to cancel. The rows of the database decide. */
export interface JobDispatch {
  /** Looks for a job to claim: one waits, or a claimed one waits no more for its sandbox. */
  look(): void;
  /** Asks the host that runs a job to cancel it. */
  cancel(id: string, reason: string): void;
  /** Runs jobs as they come, at most `concurrency` at the same time, until `stop`. */
  run(work: JobWork, concurrency: number): void;
  /** No further job is claimed. Resolves when all running jobs have ended. */
  stop(): Promise<void>;
}
