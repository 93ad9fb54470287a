import type { CheckedValue } from '../../tools/schema/tool-schema.ts';
import type { SandboxResult } from '../../protocol/messages/messages.ts';
import { LIMIT_CEILINGS } from '../../contracts/jobs/limits.ts';
import { detachBytes, ValueFault } from '../../protocol/messages/value-bytes.ts';
import { checkOutput, type OutputSchema } from '../request/output-schema.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';

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

/**
 * What a schema says of a value; a program that hands none back has `undefined`. What the schema makes of it is a part of the result, which
 * is JSON.
 */
export async function valueVerdict(schema: OutputSchema, value: unknown): Promise<CheckedValue> {
  if (value === undefined) return { fault: 'there is none' };
  const checked = await checkOutput(schema, value);
  return 'fault' in checked ? checked : jsonOf(checked.value);
}

function jsonOf(made: unknown): CheckedValue {
  try {
    const { json } = detachBytes(made, { jsonBytes: LIMIT_CEILINGS.valueBytes, partBytes: 0 });
    if (json !== undefined) return { value: json };
    return { fault: 'its schema makes nothing of it' };
  } catch (error) {
    const reason = error instanceof ValueFault ? error.message : 'it cannot be read';
    return { fault: `what its schema makes of it cannot be kept: ${reason}` };
  }
}
