import type { CheckedValue } from '../broker/tool-schema/tool-schema.ts';
import type { SandboxResult } from '../protocol/messages.ts';
import { checkOutput, type OutputSchema } from './output-schema.ts';
import type { PreparedJob } from './prepare-job.ts';

/**
 * Judges the value of a run by the schema of its job. What the agent in the sandbox was told on its way counts for nothing here.
 *
 * @returns the result with what the schema makes of the value, or as failed
 */
export async function judgeResult(
  result: SandboxResult,
  { valueSchema, globals }: PreparedJob,
): Promise<SandboxResult> {
  if (valueSchema === undefined || globals.JOB.codegen?.dryRun === true || result.outcome !== 'succeeded')
    return result;
  const checked = await valueVerdict(valueSchema, result.value);
  if ('value' in checked) return { ...result, value: checked.value };
  const error = { name: 'ContractError', message: `The value does not fit: ${checked.fault}.`, stack: '' };
  return { ...result, outcome: 'failed', error };
}

/** What a schema says of a value; a program that hands none back has `undefined`. */
export async function valueVerdict(schema: OutputSchema, value: unknown): Promise<CheckedValue> {
  return value === undefined ? { fault: 'there is none' } : await checkOutput(schema, value);
}
