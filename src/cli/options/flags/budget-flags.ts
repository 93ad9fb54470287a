import type { JobBudget } from '../../../contracts/jobs/job.ts';
import { type CommandArguments, type FlagSpecification, flagValue } from './command.ts';
import { parseNumber } from './parse-number.ts';

const AMOUNTS: readonly { flag: string; part: keyof JobBudget; what: string }[] = [
  { flag: 'budget-model-calls', part: 'modelCalls', what: 'requests to the model' },
  { flag: 'budget-input-tokens', part: 'inputTokens', what: 'tokens sent to the model' },
  { flag: 'budget-output-tokens', part: 'outputTokens', what: 'tokens of its answers' },
  { flag: 'budget-tool-calls', part: 'toolCalls', what: 'calls of tools' },
];

/** The flags of a job's budget. */
export const BUDGET_FLAGS: readonly FlagSpecification[] = AMOUNTS.map(({ flag, what }) => ({
  name: flag,
  value: 'N',
  summary: `the most ${what} in all; beyond it the job ends with the outcome limit`,
}));

/** The budget that flags set; undefined without any. @throws SkillcellError `usage.invalid` */
export function budgetFromFlags(given: CommandArguments): JobBudget | undefined {
  const budget: JobBudget = {};
  for (const { flag, part, what } of AMOUNTS) {
    const text = flagValue(given, flag);
    if (text === undefined) continue;
    budget[part] = parseNumber(`--${flag}`, text, { minimum: 1, maximum: Number.MAX_SAFE_INTEGER, unit: what });
  }
  return Object.keys(budget).length === 0 ? undefined : budget;
}
