import type { SandboxResult } from '../protocol/messages.ts';
import type { OutputJudge } from './output-judge.ts';
import type { PreparedJob } from './prepare-job.ts';

/**
 * Judges the value of a run by the schema of its job. What the agent in the sandbox was told on its way counts for nothing here.
 *
 * @returns the result with what the schema makes of the value, or as failed
 */
export async function judgeResult(result: SandboxResult, { judge, globals }: PreparedJob): Promise<SandboxResult> {
  if (judge === undefined || globals.JOB.codegen?.dryRun === true || result.outcome !== 'succeeded') return result;
  const checked = await valueVerdict(judge, result.value);
  if ('value' in checked) return { ...result, value: checked.value };
  const error = { name: 'ContractError', message: `The value does not fit: ${checked.fault}.`, stack: '' };
  return { ...result, outcome: 'failed', error };
}

/** What a schema says of a value; a program that hands none back has `undefined`. */
export async function valueVerdict(
  judge: OutputJudge,
  value: unknown,
): Promise<{ value: unknown } | { fault: string }> {
  if (value === undefined) return { fault: 'there is none' };
  try {
    return await judge.check(value);
  } catch {
    // A function of the schema's author threw: no program can be told more, and none can be let through.
    return { fault: 'its schema could not be applied' };
  }
}
