import type { Tool } from '../../tools/define/tool.ts';
import type { Egress } from '../../egress/start-egress.ts';
import type { ArtifactStore } from '../journal/artifact-store.ts';
import type { BackgroundWork } from '../supply/background-work.ts';
import type { JobCancellation } from './job-cancellation.ts';
import type { JobJournal } from '../journal/job-journal.ts';
import type { JobQueue } from '../supply/job-queue.ts';
import type { OrchestratorSettings } from '../request/orchestrator-settings.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { SandboxSupply } from '../supply/sandbox-supply.ts';
import type { SkillCodeSource } from '../request/skill-code-source.ts';
import type { Tracing } from '../tracing/create-tracing.ts';

/** Shared state of the jobs of one orchestrator. */
export interface JobHost {
  settings: OrchestratorSettings;
  queue: JobQueue;
  supply: SandboxSupply;
  /** Undefined where the code of skills is off. */
  skillCode: SkillCodeSource | undefined;
  /** The network of jobs; undefined if no job has one. */
  egress: Egress | undefined;
  artifacts: ArtifactStore;
  tracing: Tracing;
  journal: JobJournal | undefined;
  /** Jobs under way, from their request to their end, by id. */
  active: Map<string, JobCancellation>;
  /** Ids of sessions that are open or being opened. */
  sessions: Set<string>;
  /** Jobs that have a sandbox, by id. */
  running: Map<string, PreparedJob>;
  /** Tools that any job may name. */
  tools: Tool[];
  /** Ends of sandboxes that continue after the callers have their results. */
  leaving: BackgroundWork;
}
