import type { SelectOptions } from './decision.ts';
import type { StandardSchemaLike, ZodSchema } from './generation.ts';
import type { JobPackages } from '../network/job-packages.ts';
import type { NetworkRule } from '../network/network-rule.ts';
import type { Language } from './language.ts';
import type { SkillVariant, SourceRow } from '../skills/skill.ts';
import type { Isolation, RunnerName } from './result.ts';
import type { JobLimits } from './limits.ts';
import type { TriggerSession } from '../skills/matching.ts';

/** The default consumer of a job. */
export const DEFAULT_CONSUMER = 'solver.codegen';

/**
 * Content of an input file: a text, bytes, or a file or folder of the host. All regular files of a folder are taken, with their parent
 * folders. Links below the folder are not followed. Each omitted entry is a diagnostic of the result.
 */
export type InputContent = string | Uint8Array | { source: string };

/** An input file as an element of a list; its bytes can be executable. `destination` is relative to the working folder. */
export type InputFile =
  | { destination: string; bytes: Uint8Array; executable?: boolean }
  | { destination: string; source: string };

/** Options for matching the task of a job against the triggers of skills. */
export interface JobMatchOptions {
  /** Most skills that the task can add. Default: 3. */
  maxSkills?: number;
  /** The conversation of this job. A matched skill stays active for the next five jobs of the conversation. */
  session?: TriggerSession;
}

/** Skills of a job. */
export interface JobSkillsOptions {
  /** References, in request order. */
  refs?: string[];
  /** Default: `solver.codegen`. */
  consumer?: string;
  variant?: SkillVariant;
  includeInternal?: boolean;
  /** Adds the skills whose triggers match the task of a codegen job, after `refs`. Default: false. */
  match?: boolean | JobMatchOptions;
  /** Rows of the turn's sources pool so far. */
  pool?: SourceRow[];
}

/** Upper bounds for the costs of a whole job. Whole numbers from 1. Without a bound, only the limits apply. */
export interface JobBudget {
  /** Requests to the model. */
  modelCalls?: number;
  /** Tokens sent to the model, in all requests together. */
  inputTokens?: number;
  /** Tokens in the answers of the model, in all requests together. */
  outputTokens?: number;
  /** Calls of tools. */
  toolCalls?: number;
}

/** A tool of a single job, created by `defineTool`. */
export interface JobTool {
  readonly id: string;
  readonly description: string;
  /**
   * Runs on the host, like every tool.
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

/** Options of every kind of job. */
export interface JobOptions {
  /** Letters, digits, `-`, `_`; at most 64 characters. Default: generated. */
  jobId?: string;
  runner?: 'auto' | RunnerName;
  /** Minimum isolation. Default: `namespace`. */
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
   * Tools that the job may call: ids, patterns of ids, and tools of this job only: `['crm.find', 'files.*', defineTool({ … })]`.
   * Default: no tools.
   */
  tools?: (string | JobTool)[];
  /**
   * Places that the program may reach: rules such as `api.example.com` or `GET,HEAD *.example.com/v1/**`, within `network.allow` of the
   * orchestrator. `registry:npm` and `registry:pypi` give it the registries within `network.packages`. Default: no network.
   */
  network?: (NetworkRule | string)[];
  /**
   * Packages that npm and pip install in the sandbox before the program runs, within `network.packages` of the orchestrator:
   * `{ npm: ['is-odd@3'], pypi: ['tinypkg==1.0'] }`. The program itself has no more network for it. Default: none.
   */
  packages?: JobPackages;
  /** Names of secrets of the orchestrator that requests to their hosts may carry. The program sees placeholders. Default: none. */
  secrets?: string[];
  /** Passed to the tools and to `approve` as `context`, and to no other code. */
  context?: unknown;
  /** Host folder for artifacts. Without it, they are kept in memory. */
  output?: string;
  signal?: AbortSignal;
}

/** Options of a job that runs given code. */
export interface ExecOptions extends JobOptions {
  code: string;
  /** Default: from the ending of `fileName`, else from the first line of the code (`#!`), else, without a `fileName`, `javascript`. */
  language?: Language;
  /** Name of the user's file in error messages. */
  fileName?: string;
}

/** Options of a job that runs a script of a skill. Its standard input is empty. */
export interface ScriptOptions extends Omit<JobOptions, 'stdin' | 'args'> {
  /** Reference to the skill, as in `skills.refs`. `skills.refs` names further skills of the job. */
  skill: string;
  /** Path below the skill's folder: a file that the skill lists under `scripts`, or a file below its folder `scripts/`. */
  script: string;
  /** At most 100 arguments of 4,096 bytes in all. */
  args?: string[];
  /** As for every job, but at most 60 s per run and 1 MiB of output. */
  limits?: Partial<JobLimits>;
}

/** Required outputs of the code of a job. */
export interface JobOutputs {
  /** Files, relative to the output folder: the same as `expect`. */
  files?: string[];
  /** Schema of the value that the program returns. The host checks the value and repairs a wrong one like any other failure. */
  value?: ZodSchema | StandardSchemaLike | Record<string, unknown>;
}

/** Options of a job that writes code for a task, runs it and repairs it. */
export interface CodegenOptions extends JobOptions {
  task: string;
  /** Language of the generated code. Default: `javascript`. */
  language?: Language;
  /** `provider/model`, or undefined for the gateway's default. */
  model?: string;
  /** Default: 3. */
  maxAttempts?: number;
  outputs?: JobOutputs;
  dryRun?: boolean;
  /** Prompt tokens for tool declarations; above this, the prompt has only names and first sentences. Default: 4,000. */
  toolBudgetTokens?: number;
  /**
   * Lets a model first read the skill catalog and decide: which skills the job gets besides `skills`, and whether the answer is a text or
   * code. Default: false.
   */
  select?: boolean | SelectOptions;
}
