import type { Diagnostic } from '../errors/diagnostic.ts';
import type { ResultSkills } from './result.ts';
import type { SkillVariant, SourceRow } from '../skills/skill.ts';

/** A zod schema of any flavour, reduced to the part that skillcell uses. */
export interface ZodSchema<T = unknown> {
  readonly _zod: { readonly output: T };
}

/** A schema of another library that is a Standard Schema (https://standardschema.dev) and provides its JSON schema. */
export interface StandardSchemaLike {
  readonly '~standard': object;
}

/** Options of a generation without a sandbox. */
export interface GenerateOptions<T = unknown> {
  prompt: string;
  /** The writing consumer; its policy selects the allowed skills. */
  consumer: string;
  /** References, in request order. Default: none. */
  skills?: string[];
  variant?: SkillVariant;
  includeInternal?: boolean;
  /** Rows of the turn's sources pool so far. */
  pool?: SourceRow[];
  /** Instructions of the caller at the beginning of the system prompt. */
  system?: string;
  /** Schema of the answer: zod, Standard Schema or JSON schema. Without it, the answer is a text. */
  output?: ZodSchema<T> | StandardSchemaLike | Record<string, unknown>;
  /** Most requests until an answer fits `output`, 1 to 5. Default: 2. */
  maxAttempts?: number;
  /** `provider/model`, or undefined for the gateway's default. */
  model?: string;
  /** Deadline of one request, in milliseconds. Default: 120,000. */
  modelTimeoutMs?: number;
  signal?: AbortSignal;
}

/** Result of a generation. */
export interface Generation<T = unknown> {
  /** The unchanged answer of the model. */
  text: string;
  /** With `output`: the parsed answer. */
  value?: T;
  /** `provider/model` that answered. */
  model: string;
  /** Number of requests. */
  attempts: number;
  /** 64 hex digits over the canonical JSON of the answered prompt. */
  promptSha256: string;
  skills: Pick<ResultSkills, 'active' | 'instructionSha256'>;
  /** The turn's sources pool after rendering. */
  sources: SourceRow[];
  /** Sum over all attempts; null if a service does not report it. */
  usage: { inputTokens: number | null; outputTokens: number | null };
  diagnostics: Diagnostic[];
}
