import type { Diagnostic } from '../errors/diagnostic.ts';
import type { ResultSkills } from './result.ts';
import type { SkillVariant, SourceRow } from '../skills/skill.ts';

/** A zod schema of any flavour, by what we call of it. */
export interface ZodSchema<T = unknown> {
  readonly _zod: { readonly output: T };
}

/** A schema of another library that is a Standard Schema (https://standardschema.dev) and says its JSON schema. */
export interface StandardSchemaLike {
  readonly '~standard': object;
}

/** An answer to have written without a sandbox. */
export interface GenerateOptions<T = unknown> {
  prompt: string;
  /** Who writes: its policy says which skills it may have. */
  consumer: string;
  /** References, in request order. Default: none. */
  skills?: string[];
  variant?: SkillVariant;
  includeInternal?: boolean;
  /** Rows of the turn's sources pool so far. */
  pool?: SourceRow[];
  /** Instructions of the caller's own, with which the system prompt begins. */
  system?: string;
  /** What the answer has to be, as a zod schema or a JSON schema. Without it, a text. */
  output?: ZodSchema<T> | StandardSchemaLike | Record<string, unknown>;
  /** Answers that are asked for until one fits `output`, 1 to 5. Default: 2. */
  maxAttempts?: number;
  /** `provider/model`, or undefined for the gateway's default. */
  model?: string;
  /** Deadline of one request, in milliseconds. Default: 120,000. */
  modelTimeoutMs?: number;
  signal?: AbortSignal;
}

/** What was written. */
export interface Generation<T = unknown> {
  /** The answer as the model gave it. */
  text: string;
  /** With `output`, what the schema made of the answer. */
  value?: T;
  /** `provider/model` that answered. */
  model: string;
  /** Requests that it took. */
  attempts: number;
  /** 64 hex digits over the canonical JSON of the prompt that was answered. */
  promptSha256: string;
  skills: Pick<ResultSkills, 'active' | 'instructionSha256'>;
  /** The turn's sources pool after rendering. */
  sources: SourceRow[];
  /** Of all attempts; null where a service does not say. */
  usage: { inputTokens: number | null; outputTokens: number | null };
  diagnostics: Diagnostic[];
}
