import type { JobOptions } from '../../contracts/jobs/job.ts';
import type { Orchestrator } from '../../jobs/orchestrator.ts';
import type { SkillSource } from '../../jobs/request/skill-source.ts';

/** Settings of an MCP server. */
export interface McpServerSettings {
  orchestrator: Orchestrator;
  skills: SkillSource;
  /** The consumer whose policy decides which skills clients, and the jobs that they start, may have. */
  consumer: string;
  /** Options of all jobs of the server; no client can widen them. */
  job: Pick<JobOptions, 'runner' | 'isolation' | 'env' | 'tools' | 'network' | 'secrets' | 'packages'> & {
    limits: NonNullable<JobOptions['limits']>;
  };
  /** Version of skillcell. */
  version: string;
  /** Receives a log line for the people who run the server. */
  log(line: string): void;
}
