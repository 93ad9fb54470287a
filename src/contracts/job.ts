import type { SkillVariant, SourceRow } from './skill.ts';
import type { Isolation } from './result.ts';
import type { JobLimits } from './limits.ts';

/** Languages that an executor runs. */
export type Language = 'javascript' | 'typescript' | 'python' | 'bash';
/** All languages, in the order of the help text. */
export const LANGUAGES: readonly Language[] = ['javascript', 'typescript', 'python', 'bash'];

/** The consumer of a job that names none. */
export const DEFAULT_CONSUMER = 'solver.codegen';

/** A file for the job's working folder: the bytes, or a regular file of the host. `destination` is relative to the workspace. */
export type InputFile =
  | { destination: string; bytes: Uint8Array; executable?: boolean }
  | { destination: string; source: string };

/** Which skills a job carries. */
export interface JobSkillsOptions {
  /** References, in request order. */
  refs?: string[];
  /** Default: `solver.codegen`. */
  consumer?: string;
  variant?: SkillVariant;
  includeInternal?: boolean;
  /** Rows of the turn's sources pool so far. */
  pool?: SourceRow[];
}

/** Fields that every kind of job takes. */
export interface JobOptions {
  /** Default: made by us. Letters, digits, `-`, `_`; at most 64. */
  jobId?: string;
  runner?: 'auto' | 'local' | 'docker';
  /** The least isolation that is acceptable. Default: `namespace`. */
  isolation?: Isolation;
  files?: InputFile[];
  stdin?: Uint8Array | { source: string };
  args?: string[];
  env?: Record<string, string>;
  /** Outputs that must exist afterwards, relative to the output folder. */
  expect?: string[];
  limits?: Partial<JobLimits>;
  skills?: JobSkillsOptions;
  /** A folder of the host that artifacts are written to. Without it they are kept in memory. */
  output?: string;
  signal?: AbortSignal;
}

/** Run this code. */
export interface ExecOptions extends JobOptions {
  code: string;
  /** Default: `javascript`. */
  language?: Language;
  /** What the user's file is called in error messages. */
  fileName?: string;
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
  dryRun?: boolean;
}
