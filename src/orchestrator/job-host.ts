import type { Tool } from '../broker/tool.ts';
import type { ArtifactStore } from './artifact-store.ts';
import type { BackgroundWork } from './background-work.ts';
import type { JobCancellation } from './job-cancellation.ts';
import type { JobJournal } from './job-journal.ts';
import type { JobQueue } from './job-queue.ts';
import type { OrchestratorSettings } from './orchestrator-settings.ts';
import type { PreparedJob } from './prepare-job.ts';
import type { SandboxSupply } from './sandbox-supply.ts';
import type { SkillCodeSource } from './skill-code/skill-code-source.ts';
import type { Tracing } from './tracing/create-tracing.ts';

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
