import type { Tool } from '../../tools/define/tool.ts';
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

/** What the jobs of one orchestrator share. */
export interface JobHost {
  settings: OrchestratorSettings;
  queue: JobQueue;
  supply: SandboxSupply;
  /** Absent where skills bring no code. */
  skillCode: SkillCodeSource | undefined;
  artifacts: ArtifactStore;
  tracing: Tracing;
  journal: JobJournal | undefined;
  /** The jobs between their acceptance and their end, by id. */
  active: Map<string, JobCancellation>;
  /** Ids of the sessions that are open or about to be. */
  sessions: Set<string>;
  /** The jobs that have a sandbox, by id. */
  running: Map<string, PreparedJob>;
  /** What jobs may name as their tools. */
  tools: Tool[];
  /** What the ends of sandboxes still do, after the callers of their jobs have their results. */
  leaving: BackgroundWork;
}
