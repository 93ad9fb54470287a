import type { SelectOptions } from './decision.ts';
import type { StandardSchemaLike, ZodSchema } from './generation.ts';
import type { Language } from './language.ts';
import type { SkillVariant, SourceRow } from '../skills/skill.ts';
import type { Isolation, RunnerName } from './result.ts';
import type { JobLimits } from './limits.ts';
import type { TriggerSession } from '../skills/matching.ts';

/** The consumer of a job that names none. */
export const DEFAULT_CONSUMER = 'solver.codegen';

/**
 * What a job finds in its working folder: a text, bytes, or a file or folder of the host. Of a folder all regular files are taken,
 * with the folders on the way to them; no link below it is followed, and what is left out is a diagnostic of the result.
 */
export type InputContent = string | Uint8Array | { source: string };

/** The same as one of a list, where bytes can be executable. `destination` is relative to the working folder. */
export type InputFile =
  | { destination: string; bytes: Uint8Array; executable?: boolean }
  | { destination: string; source: string };

/** How the task of a job is matched against the triggers of skills. */
export interface JobMatchOptions {
  /** The most skills that the task brings in. Default: 3. */
  maxSkills?: number;
  /** The conversation that the job is a turn of: what matched stays for the next five of its jobs. */
  session?: TriggerSession;
}

/** Which skills a job carries. */
export interface JobSkillsOptions {
  /** References, in request order. */
  refs?: string[];
  /** Default: `solver.codegen`. */
  consumer?: string;
  variant?: SkillVariant;
  includeInternal?: boolean;
  /** Whether the skills that the task of a codegen job calls for by their triggers come after those of `refs`. Default: false. */
  match?: boolean | JobMatchOptions;
  /** Rows of the turn's sources pool so far. */
  pool?: SourceRow[];
}

/** The most that a job may use of what costs, in all its parts together. Whole numbers from 1; what is not named has no end but the limits'. */
export interface JobBudget {
  /** Requests to the model. */
  modelCalls?: number;
  /** Tokens that are sent to the model, in all requests together. */
  inputTokens?: number;
  /** Tokens that the model answers. */
  outputTokens?: number;
  /** Calls of tools. */
  toolCalls?: number;
}

/** A tool of one job alone, as `defineTool` gives it. */
export interface JobTool {
  readonly id: string;
  readonly description: string;
  /**
   * Runs on the host, as that of every tool.
   *
   * @example
   * ```ts
   * import { createOrchestrator, defineTool } from 'skillcell';
   *
   * const today = defineTool({ id: 'today', description: 'Says which day it is.', execute: async () => 'Tuesday' });
   * await using orchestrator = createOrchestrator();
   * const code = "import { tools } from 'skillcell'; export default await tools.today();";
   * console.log((await orchestrator.exec({ code, tools: [today] })).value);
   * // prints: Tuesday
   * ```
   */
  execute(input: unknown, around: never): Promise<unknown>;
}

/** Fields that every kind of job takes. */
export interface JobOptions {
  /** Default: made by us. Letters, digits, `-`, `_`; at most 64. */
  jobId?: string;
  runner?: 'auto' | RunnerName;
  /** The least isolation that is acceptable. Default: `namespace`. */
  isolation?: Isolation;
  /** By destination, relative to the working folder: `{ 'data.csv': 'a,b\n', 'pages': { source: '/srv/pages' } }`. */
  files?: Record<string, InputContent> | InputFile[];
  /** A text, bytes, or a file of the host. */
  stdin?: InputContent;
  args?: string[];
  env?: Record<string, string>;
  /** Outputs that must exist afterwards, relative to the output folder. */
  expect?: string[];
  limits?: Partial<JobLimits>;
  budget?: JobBudget;
  skills?: JobSkillsOptions;
  /**
   * Ids of tools that the job may call, or patterns of them, and tools that the job alone has: `['crm.find', 'files.*', defineTool({ … })]`.
   * Default: none.
   */
  tools?: (string | JobTool)[];
  /** What the tools and `approve` get as `context`; it goes nowhere else. */
  context?: unknown;
  /** A folder of the host that artifacts are written to. Without it they are kept in memory. */
  output?: string;
  signal?: AbortSignal;
}

/** Run this code. */
export interface ExecOptions extends JobOptions {
  code: string;
  /** Default: what the ending of `fileName` says, else the first line of the code (`#!`), else, without a `fileName`, `javascript`. */
  language?: Language;
  /** What the user's file is called in error messages. */
  fileName?: string;
}

/** Run a script that a skill ships. Its standard input is empty. */
export interface ScriptOptions extends Omit<JobOptions, 'stdin' | 'args'> {
  /** The skill, by a reference as in `skills.refs`, which names further ones that the job carries. */
  skill: string;
  /** Path below the skill's folder: a file that the skill lists under `scripts`, or one below its folder `scripts/`. */
  script: string;
  /** At most 100, of 4,096 bytes in all. */
  args?: string[];
  /** As for every job, within the limits of scripts: a run of 60 s, and 1 MiB of output. */
  limits?: Partial<JobLimits>;
}

/** What the code of a job has to leave. */
export interface JobOutputs {
  /** Files, relative to the output folder: the same as `expect`. */
  files?: string[];
  /** Zod schema or JSON schema of the value that the program hands back. The host judges it, and what does not fit is repaired like any other failure. */
  value?: ZodSchema | StandardSchemaLike | Record<string, unknown>;
}

/** Have code written for a task, run it, repair it. */
export interface CodegenOptions extends JobOptions {
  task: string;
  /** Language of the code that is asked for. Default: `javascript`. */
  language?: Language;
  /** `provider/model`, or undefined for the gateway's default. */
  model?: string;
  /** Default: 3. */
  maxAttempts?: number;
  outputs?: JobOutputs;
  dryRun?: boolean;
  /** Tokens of the prompt that the declarations of the tools may take; beyond it are names and first sentences. Default: 4,000. */
  toolBudgetTokens?: number;
  /**
   * Whether a model first decides on the task, reading the catalog of skills: which of them the job carries besides those of `skills`, and
   * whether a text is the answer or code is to be written. Default: false.
   */
  select?: boolean | SelectOptions;
}
