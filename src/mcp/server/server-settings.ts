import type { JobOptions } from '../../contracts/jobs/job.ts';
import type { Orchestrator } from '../../jobs/orchestrator.ts';
import type { GivenSkills } from '../../jobs/request/present-skills.ts';

/** What an MCP server is made of. */
export interface McpServerSettings {
  orchestrator: Orchestrator;
  skills: GivenSkills;
  /** Whose policy decides which skills clients, and the jobs that they start, may have. */
  consumer: string;
  /** What all jobs of the server have, whoever asks for them: no client can widen it. */
  job: Pick<JobOptions, 'runner' | 'isolation' | 'env' | 'tools'> & { limits: NonNullable<JobOptions['limits']> };
  /** Of skillcell. */
  version: string;
  /** Takes a line for the people who run the server. */
  log(line: string): void;
}
