import type { Experimental_ToolCallerTool, Tool } from 'ai';
import type { SourceRow } from '../contracts/skills/skill.ts';
import type { LimitName, Outcome } from '../contracts/jobs/result.ts';
import type { FoundSkill } from '../tools/agent/disclosure-tools.ts';

export type { FoundSkill } from '../tools/agent/disclosure-tools.ts';

/** What the model gives `run_code`. */
export interface RunCodeInput {
  /** The whole program. */
  code: string;
}

/** What the model gives `read_skill_file`. */
export interface ReadSkillFileInput {
  skill: string;
  path: string;
  /** The first line, from 0. */
  offset?: number | undefined;
  /** Lines, at most 2,000. */
  limit?: number | undefined;
}

/** What the model gives `run_skill_script`. */
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

/** What a program displayed, in one of its forms. */
export interface ShownResult {
  mediaType: string;
  text?: string;
  /** A picture, which the model is shown as one. */
  base64?: string;
  /** Size of what the model is not shown. */
  bytes?: number;
}

/** What came of a program, as far as a model can read it. A failing program is an output like any other. */
export interface RunOutput {
  /** Of the program's job, or the session's. */
  jobId: string;
  /** In a session: the number of the run, and whether what programs defined is still there for the next. */
  run?: number;
  state?: 'kept' | 'lost';
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  /** With a line in it where something was left out. */
  stdout: string;
  stderr: string;
  /** Absent where there is none, and where it is too large: then `notes` says so. */
  value?: unknown;
  error?: { name: string; message: string; line?: number };
  files?: ShownFile[];
  /** In a session: what was displayed, the last expression, and open figures. */
  displayed?: ShownResult[];
  /** What else there is to know, in sentences: what was left out, and diagnostics. */
  notes?: string[];
}

/** A skill in a list. */
export interface ListedSkill {
  id: string;
  name: string;
  brief: string;
}

/** What the model gives `search_skills`. */
export interface SearchSkillsInput {
  /** What is to be done, in words. */
  text: string;
  /** Skills, at most 50. */
  max?: number | undefined;
}

/** What `load_skill` gives. */
export interface LoadedSkill {
  id: string;
  instructions: string;
  files: { path: string; bytes: number; executable: boolean }[];
  /** Tools that the skill is about. */
  tools: { id: string; role?: string | undefined; why?: string | undefined }[];
  /** The sources pool that citations in instructions name, with those of the skills that were loaded before. */
  sources?: SourceRow[];
  notes?: string[];
}

/** What `read_skill_file` gives: lines of a text. */
export interface ReadSkillFile {
  path: string;
  text: string;
  /** The first line, from 0. */
  offset: number;
  /** Of the whole file. */
  lines: number;
  /** The line to go on with, where there is one. */
  next?: number;
  notes?: string[];
}

/**
 * Tools for an agent of the AI SDK. Those of skills are there where the orchestrator has skills. `await using` ends the session that they
 * have opened, which the end of the orchestrator does as well.
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
