import type { Experimental_ToolCallerTool, Tool } from 'ai';
import type { SourceRow } from '../contracts/skills/skill.ts';
import type { LimitName, Outcome } from '../contracts/jobs/result.ts';
import type { FoundSkill } from '../tools/agent/disclosure-tools.ts';

export type { FoundSkill } from '../tools/agent/disclosure-tools.ts';

/** Input of `run_code`. */
export interface RunCodeInput {
  /** The whole program. */
  code: string;
}

/** Input of `read_skill_file`. */
export interface ReadSkillFileInput {
  skill: string;
  path: string;
  /** The first line, from 0. */
  offset?: number | undefined;
  /** Lines, at most 2,000. */
  limit?: number | undefined;
}

/** Input of `run_skill_script`. */
export interface RunSkillScriptInput {
  skill: string;
  /** Path below the skill's folder. */
  script: string;
  args?: string[] | undefined;
}

/** A file that a program left in its output folder. */
export interface ShownFile {
  /** Below the output folder: `orchestrator.readArtifact({ jobId }, path)` gives its bytes. */
  path: string;
  bytes: number;
}

/** A displayed result, in one of its forms. */
export interface ShownResult {
  mediaType: string;
  text?: string;
  /** A picture, which the model sees as one. */
  base64?: string;
  /** Size of a result that the model does not see. */
  bytes?: number;
}

/** The output of a program, for a model. A failing program has an output like any other. */
export interface RunOutput {
  /** Id of the program's job, or of the session. */
  jobId: string;
  /** In a session: the number of the run, and whether definitions of programs are still there for the next. */
  run?: number;
  state?: 'kept' | 'lost';
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  /** With a line in place of each part that was left out. */
  stdout: string;
  stderr: string;
  /** Absent if the program gave no value, or it is too large: then `notes` says so. */
  value?: unknown;
  error?: { name: string; message: string; line?: number };
  files?: ShownFile[];
  /** In a session: displayed results, the last expression, and open figures. */
  displayed?: ShownResult[];
  /** More information, in sentences: parts that were left out, and diagnostics. */
  notes?: string[];
}

/** A skill in a list. */
export interface ListedSkill {
  id: string;
  name: string;
  brief: string;
}

/** Input of `search_skills`. */
export interface SearchSkillsInput {
  /** The task, in words. */
  text: string;
  /** Skills, at most 50. */
  max?: number | undefined;
}

/** Output of `load_skill`. */
export interface LoadedSkill {
  id: string;
  instructions: string;
  files: { path: string; bytes: number; executable: boolean }[];
  /** Tools that the skill is about. */
  tools: { id: string; role?: string | undefined; why?: string | undefined }[];
  /** The sources pool that citations in instructions refer to, with the sources of skills that were loaded before. */
  sources?: SourceRow[];
  notes?: string[];
}

/** Output of `read_skill_file`: lines of a text. */
export interface ReadSkillFile {
  path: string;
  text: string;
  /** The first line, from 0. */
  offset: number;
  /** Lines of the whole file. */
  lines: number;
  /** The next line to read, if there is one. */
  next?: number;
  notes?: string[];
}

/**
 * Tools for an agent of the AI SDK. The tools of skills are there if the orchestrator has skills. `await using` ends the session that the
 * tools have opened; the end of the orchestrator does so as well.
 */
export type SandboxTools = {
  /** Runs a program. Tools that name it as their caller are called by the program: `experimental_toolCallers: { find: ['run_code'] }`. */
  run_code: Experimental_ToolCallerTool<Tool<RunCodeInput, RunOutput>>;
  list_skills?: Tool<Record<string, never>, { skills: ListedSkill[]; notes?: string[] }>;
  search_skills?: Tool<SearchSkillsInput, { skills: FoundSkill[]; notes?: string[] }>;
  load_skill?: Tool<{ skill: string }, LoadedSkill>;
  read_skill_file?: Tool<ReadSkillFileInput, ReadSkillFile>;
  run_skill_script?: Tool<RunSkillScriptInput, RunOutput>;
  [Symbol.asyncDispose]: () => Promise<void>;
};
