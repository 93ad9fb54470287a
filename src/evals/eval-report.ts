import type { Outcome } from '../contracts/jobs/result.ts';

/** Schema name of a report. */
export const EVAL_REPORT_SCHEMA = 'skillcell/skill-eval@1';

/** The verdict of the runs on a skill. */
export type EvalVerdict = 'better' | 'worse' | 'no-difference' | 'could-not-measure';

/** One side of a comparison: runs with the skill, those without it, or, with `aa`, again with it. */
export type EvalSide = 'with' | 'without' | 'again';

/** The outcome of one assertion in one run. */
export interface AssertionOutcome {
  /** `unchecked` is prose, which no code can judge: it counts neither for nor against. */
  status: 'passed' | 'failed' | 'unchecked';
  /** Why it failed. */
  reason?: string;
}

/** One run of one eval. */
export interface EvalRun {
  /** Id of the eval. */
  eval: string;
  side: EvalSide;
  /** From 1. */
  run: number;
  /** `measured`; `invalid` if a prompt did not belong to its side; `failed` if the model, the sandbox or a check failed. */
  status: 'measured' | 'invalid' | 'failed';
  /** Why it was not measured. */
  reason?: string;
  /** How its job ended; absent if it had no result. */
  outcome?: Outcome;
  /** The part of the checked assertions that passed; absent if it was not measured, or has none to check. */
  passRate?: number;
  /** In the order of the eval. */
  assertions: AssertionOutcome[];
  tokens: TokenCount;
  /** Digests of the prompts, in order. */
  promptSha256: string[];
}

/** Tokens of requests and answers; null if a service does not report them. */
export interface TokenCount {
  input: number | null;
  output: number | null;
}

/** All runs of one side. */
export interface EvalSideReport {
  side: EvalSide;
  /** Whether its runs carry the skill. */
  withSkill: boolean;
  /** Runs that were measured. */
  measured: number;
  /** Runs that were measured and passed every checked assertion. */
  passed: number;
  /** The mean of the pass rates of its runs, with the same weight for each eval; null if nothing was measured. */
  passRate: number | null;
  /** Tokens of all its runs, measured or not. */
  tokens: TokenCount;
}

/** The pass rate of the first side minus that of the second. */
export interface EvalDifference {
  /** From -1 to 1. */
  value: number;
  /** 95 % interval. It holds zero if the test finds no difference; if the test finds one, zero is at most its end. */
  low: number;
  high: number;
  /** How often chance alone makes a difference this large, in either direction. */
  pValue: number;
}

/** One assertion, and how often it passed. */
export interface EvalAssertionReport {
  text: string;
  /** False for prose. */
  checked: boolean;
  /** Runs in which it passed, by side. */
  passed: Partial<Record<EvalSide, number>>;
}

/** One eval. */
export interface EvalCaseReport {
  id: string;
  prompt: string;
  /** The expected output, in words of the author. */
  expectedOutput?: string;
  /** Measured runs and the mean of their pass rates, by side. */
  sides: Partial<Record<EvalSide, { measured: number; passRate: number | null }>>;
  assertions: EvalAssertionReport[];
}

/** The result of `evaluateSkill`. The same answers of a model give the same report. */
export interface SkillEvalReport {
  schema: typeof EVAL_REPORT_SCHEMA;
  skill: { id: string; digest: string };
  verdict: EvalVerdict;
  /** Why nothing could be measured. */
  reason?: string;
  /** Whether both sides carry the skill. */
  aa: boolean;
  /** Requested runs of each eval on each side. */
  runs: number;
  /** Seed for the order of the runs and for the shuffles of the test. */
  seed: number;
  /** Models that answered. */
  models: string[];
  /** Whether the evaluation was interrupted. */
  interrupted: boolean;
  /** The side with the skill first. */
  sides: [EvalSideReport, EvalSideReport];
  /** Null if there is nothing to compare. */
  difference: EvalDifference | null;
  evals: EvalCaseReport[];
  /** Each run, in the order in which they were made. */
  results: EvalRun[];
  /** Further notes for the reader. */
  notes: string[];
}
