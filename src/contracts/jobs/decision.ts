import type { ReferenceRow } from '../skills/skill.ts';

/** The consumer whose policy says what a decision is offered. */
export const DECISION_CONSUMER = 'solver.react.decision';

/** How a job is decided on before code is asked for. */
export interface SelectOptions {
  /** Whose policy says which skills are offered. Default: `solver.react.decision`. */
  consumer?: string;
  /** `provider/model` that decides. Default: the job's. */
  model?: string;
}

/** One request to the model that decides, and what its answer chose. */
export interface DecisionRound {
  /** 64 hex digits over the canonical JSON of system prompt and messages. */
  promptSha256: string;
  /** One row for each skill that the answer names, in its order. */
  chosen: ReferenceRow[];
  usage: { inputTokens: number | null; outputTokens: number | null };
  /** Why the answer could not be taken as it was; the model was told. */
  fault?: string;
}

/** How a job came to its skills, and to code or to a text. */
export interface JobDecision {
  /** Digest of the catalog that was shown; short ids mean its entries. */
  catalogDigest: string;
  rounds: DecisionRound[];
  /** A text answered the job, or code was asked for; null where it came to neither. */
  action: 'text' | 'codegen' | null;
  /** What was handed over to codegen. */
  handover?: {
    task: string;
    /** Declared outputs besides the job's own. */
    outputs: string[];
    /** The chosen skills under the policy of the codegen's consumer; only loaded ones went with the task. */
    skills: ReferenceRow[];
  };
}
