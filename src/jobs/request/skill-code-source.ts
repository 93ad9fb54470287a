import type { Tool } from '../../tools/define/tool.ts';
import type { Skill, SkillTree, SkillTrees } from '../../contracts/skills/skill.ts';
import type { CheckedRequest } from './job-schema.ts';

/** The parts of a job that concern the code of its skills. */
export interface SkillCodeJob {
  jobId: string;
  request: CheckedRequest;
  /** The skills of the job with code, including imported skills. */
  skills: readonly Skill[];
  /** Files of the skills, as the job gets them; absent before they are read. */
  trees?: SkillTrees;
  /** Reads the files of one skill. */
  readTree(id: string): SkillTree;
}

/** Source of the tools that skills bring as code. */
export interface SkillCodeSource {
  /**
   * The tools from the code of a job's skills. The code runs for the job only from its first call on. Unknown descriptions are read in a
   * temporary sandbox.
   *
   * @throws SkillcellError with a `skill-code.` code
   */
  tools(job: SkillCodeJob, signal: AbortSignal): Promise<Tool[]>;
  /** Begins to serve the calls of a job. */
  open(job: SkillCodeJob): OpenSkillCode;
  /** Ends the sandboxes that read descriptions. */
  close(): void;
}

/** The code of one job's skills while the job runs. */
export interface OpenSkillCode {
  /** Aborted if the running code has other tools than described. */
  readonly signal: AbortSignal;
  /** Throws the reason if the signal is aborted. */
  throwIfChanged(): void;
  /** Ends the sandboxes of the code. Idempotent. */
  close(): void;
}
