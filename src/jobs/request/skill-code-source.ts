import type { Tool } from '../../tools/define/tool.ts';
import type { Skill, SkillTree, SkillTrees } from '../../contracts/skills/skill.ts';
import type { CheckedRequest } from './job-schema.ts';

/** A job as far as the code of its skills is concerned. */
export interface SkillCodeJob {
  jobId: string;
  request: CheckedRequest;
  /** All skills of the job, with those that they import. */
  skills: readonly Skill[];
  /** Their bytes, as the job itself gets them; absent before they are read. */
  trees?: SkillTrees;
  /** Reads the bytes of one. */
  readTree(id: string): SkillTree;
}

/** What jobs have of the code of their skills. */
export interface SkillCodeSource {
  /**
   * The tools that the code of a job's skills makes. Nothing of the code runs for the job before the first call; what is not known
   * of it yet is found out in a sandbox that is ended again.
   *
   * @throws SkillcellError with a `skill-code.` code
   */
  tools(job: SkillCodeJob, signal: AbortSignal): Promise<Tool[]>;
  /** Begins to serve the calls of a job. */
  open(job: SkillCodeJob): OpenSkillCode;
  /** Ends what is still finding out what code describes. */
  close(): void;
}

/** The code of one job's skills while the job runs. */
export interface OpenSkillCode {
  /** Aborted when the code turned out to be something else than it said. */
  readonly signal: AbortSignal;
  /** Throws why, where it did. */
  throwIfChanged(): void;
  /** Ends the sandboxes of the code. Idempotent. */
  close(): void;
}
