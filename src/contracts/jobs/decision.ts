import type { ReferenceRow } from '../skills/skill.ts';

/** Default consumer whose policy selects the skills that a decision may choose from. */
export const DECISION_CONSUMER = 'solver.react.decision';

/** Options of the decision before code generation. */
export interface SelectOptions {
  /** The policy of this consumer selects the offered skills. Default: `solver.react.decision`. */
  consumer?: string;
  /** `provider/model` that decides. Default: the model of the job. */
  model?: string;
}

/** One request to the deciding model, and the choice in its answer. */
export interface DecisionRound {
  /** 64 hex digits over the canonical JSON of system prompt and messages. */
  promptSha256: string;
  /** One row for each skill that the answer names, in its order. */
  chosen: ReferenceRow[];
  usage: { inputTokens: number | null; outputTokens: number | null };
  /** Fault of the answer; the model was told. */
  fault?: string;
}

/** The decision of a job: its skills, and code or text as the answer. */
export interface JobDecision {
  /** Digest of the shown catalog; short ids refer to its entries. */
  catalogDigest: string;
  rounds: DecisionRound[];
  /** `text`: a text answered the job; `codegen`: code was requested; null: the decision failed. */
  action: 'text' | 'codegen' | null;
  /** Handover to codegen. */
  handover?: {
    task: string;
    /** Declared outputs besides the job's own. */
    outputs: string[];
    /** The chosen skills under the policy of the codegen consumer; only loaded ones went with the task. */
    skills: ReferenceRow[];
  };
}
