import type { Outcome } from '../contracts/jobs/result.ts';

/** Schema name of a report. */
export const EVAL_REPORT_SCHEMA = 'skillcell/skill-eval@1';

/** What the runs say of a skill. */
export type EvalVerdict = 'better' | 'worse' | 'no-difference' | 'could-not-measure';

/** One side of a comparison: runs with the skill, those without it, or, with `aa`, again with it. */
export type EvalSide = 'with' | 'without' | 'again';

/** What became of one assertion in one run. */
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
  /** `measured`; `invalid` where its prompt was not that of its side; `failed` where the model, the sandbox or a check did not do its part. */
  status: 'measured' | 'invalid' | 'failed';
  /** Why it was not measured. */
  reason?: string;
  /** How its job ended; absent where it came to no result. */
  outcome?: Outcome;
  /** Of the checked assertions, the part that passed; absent where it was not measured. */
  passRate?: number;
  /** In the order of the eval. */
  assertions: AssertionOutcome[];
  tokens: TokenCount;
  /** Digests of what the model was asked, in order. */
  promptSha256: string[];
}

/** Tokens of requests and answers; null where a service does not say. */
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
  /** The mean of its runs' pass rates, each eval counting the same; null where nothing was measured. */
  passRate: number | null;
  /** Of all its runs, measured or not. */
  tokens: TokenCount;
}

/** By how much the pass rate of the first side is above that of the second. */
export interface EvalDifference {
  /** From -1 to 1. */
  value: number;
  /** 95 % interval. It reaches zero where the test leaves a difference open, and at most ends there where the test finds one. */
  low: number;
  high: number;
  /** How often chance alone makes such a difference, in either direction. */
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
  /** What is expected, in words of the author. */
  expectedOutput?: string;
  /** Measured runs and the mean of their pass rates, by side. */
  sides: Partial<Record<EvalSide, { measured: number; passRate: number | null }>>;
  assertions: EvalAssertionReport[];
}

/** What `evaluateSkill` found out. The same answers of a model give the same report. */
export interface SkillEvalReport {
  schema: typeof EVAL_REPORT_SCHEMA;
  skill: { id: string; digest: string };
  verdict: EvalVerdict;
  /** Why nothing could be measured. */
  reason?: string;
  /** Whether both sides carry the skill. */
  aa: boolean;
  /** Runs of each eval on each side that were asked for. */
  runs: number;
  /** What the order of the runs and the shuffles of the test were made from. */
  seed: number;
  /** Models that answered. */
  models: string[];
  /** Whether it was ended before its time. */
  interrupted: boolean;
  /** The side with the skill first. */
  sides: [EvalSideReport, EvalSideReport];
  /** Null where there is nothing to compare. */
  difference: EvalDifference | null;
  evals: EvalCaseReport[];
  /** Each run that was made, in that order. */
  results: EvalRun[];
  /** What a reader should know besides. */
  notes: string[];
}
