import type { SkillsDescriptor } from '../skills/descriptor.ts';
import type { JobKind } from './result.ts';
import type { SkillVariant, SourceRow } from '../skills/skill.ts';
import type { Language } from './language.ts';
import type { JobLimits } from './limits.ts';
import type { ToldNetwork } from '../network/told-network.ts';

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
  /** False: the text has only names and first sentences. */
  complete: boolean;
}

/** The network of a job as the sandbox sees it. */
export interface SandboxNetwork extends ToldNetwork {
  /** Certificate of the authority of all certificates that programs get to see, in PEM. */
  authority: string;
  /** Most connections at once. */
  connections: number;
  /** Environment variables: placeholders of secrets, and the settings of installers. */
  variables: Record<string, string>;
  /** npm's configuration, without credentials; absent if npm may not be used. */
  npmrc?: string;
}

/** Packages that the sandbox installs before its program. */
export interface SandboxPackages {
  /** Checked names with versions, ranges or tags. */
  npm: string[];
  pypi: string[];
  /** The way to the registries. It ends with the installation. */
  network: SandboxNetwork;
}

/** The job as the sandbox sees it. It holds no path and no secret of the host. */
export interface SandboxJob {
  kind: JobKind;
  language: Language;
  /** Verbatim user code; absent for codegen. */
  code?: string;
  /** Name of the user's file in messages; a plain file name. */
  fileName?: string;
  args: string[];
  env: Record<string, string>;
  /** The way out of the sandbox; absent for a job without a network. */
  network?: SandboxNetwork;
  /** Absent for a job without packages. */
  packages?: SandboxPackages;
  /** Declared outputs, relative to the output folder. */
  expect: string[];
  limits: JobLimits;
  skills: {
    /** Full ids in request order; short ids mean nothing in the sandbox. */
    refs: string[];
    consumer: string;
    variant: SkillVariant;
    /** True if the host asked for internal skills; the sandbox applies the same policy again. */
    includeInternal?: boolean;
  };
  /** The script of a job of kind `script`. */
  script?: {
    /** Full id. */
    skill: string;
    /** Path below the skill's folder. */
    path: string;
    /** The interpreter in the script's first line and its relevant options; empty if the line names no interpreter. */
    interpreter: string[];
  };
  codegen?: {
    task: string;
    model: string;
    maxAttempts: number;
    /** How often the model may ask for more skills, files and tools; absent if there are no more. */
    requests?: number;
    /** The text of the prompt on further skills: their number, or one line each. */
    otherSkills?: string;
    /** JSON schema of the value that the program must return; the host checks it. */
    value?: Record<string, unknown>;
    /** Build the prompt without asking a model. */
    dryRun: boolean;
    /** Declarations that replace the tool rows in the prompt; absent if the language has no declarations. */
    declarations?: ToolDeclarations;
  };
}

/** The JSON object that the host passes to the entry script. */
export interface RuntimeGlobals {
  SKILLS_DESCRIPTOR: SkillsDescriptor | null;
  SOURCES_POOL: SourceRow[];
  JOB: SandboxJob;
  EXECUTION_ID: string;
  TOOLS: ToolDescription[];
}
