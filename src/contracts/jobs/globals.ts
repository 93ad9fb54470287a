import type { SkillsDescriptor } from '../skills/descriptor.ts';
import type { JobKind } from './result.ts';
import type { SkillVariant, SourceRow } from '../skills/skill.ts';
import type { Language } from './language.ts';
import type { JobLimits } from './limits.ts';

/** A tool that sandboxed code may call through the broker. `input` is a JSON schema. */
export interface ToolDescription {
  id: string;
  description: string;
  input?: Record<string, unknown>;
}

/** Tools as declarations in the language of a program, or its comments. */
export interface ToolDeclarations {
  /** The language, as the tag of a code block. */
  tag: string;
  /** Lines with a newline each. */
  text: string;
  /** Whether all declarations are there; else there are names and first sentences. */
  complete: boolean;
}

/** What the sandbox has to know of its job. Nothing here names a path or a secret of the host. */
export interface SandboxJob {
  kind: JobKind;
  language: Language;
  /** Verbatim user code; absent for codegen. */
  code?: string;
  /** What the user's file is called in messages; a plain file name. */
  fileName?: string;
  args: string[];
  env: Record<string, string>;
  /** Declared outputs, relative to the output folder. */
  expect: string[];
  limits: JobLimits;
  skills: {
    /** Full ids in request order; short ids mean nothing in the sandbox. */
    refs: string[];
    consumer: string;
    variant: SkillVariant;
    /** Whether the host asked for internal skills; the sandbox applies the same policy again. */
    includeInternal?: boolean;
  };
  /** What a job of kind `script` runs. */
  script?: {
    /** Full id. */
    skill: string;
    /** Path below the skill's folder. */
    path: string;
    /** The interpreter that the script's first line names, and the options there that count; empty where it names none. */
    interpreter: string[];
  };
  codegen?: {
    task: string;
    model: string;
    maxAttempts: number;
    /** How often the model may ask for more skills, files and tools; absent where there is nothing more. */
    requests?: number;
    /** What the prompt says of skills that are not in it: how many there are, or a line each. */
    otherSkills?: string;
    /** JSON schema of the value that a program has to hand back; the host judges it. */
    value?: Record<string, unknown>;
    /** Build the prompt and ask no model. */
    dryRun: boolean;
    /** What the prompt says of the tools in place of their rows; absent where the language declares none. */
    declarations?: ToolDeclarations;
  };
}

/** The JSON object that the host hands to the entry script. */
export interface RuntimeGlobals {
  SKILLS_DESCRIPTOR: SkillsDescriptor | null;
  SOURCES_POOL: SourceRow[];
  JOB: SandboxJob;
  EXECUTION_ID: string;
  TOOLS: ToolDescription[];
}
