import type { CheckedValue } from '../../tools/schema/tool-schema.ts';
import type { SandboxResult } from '../../protocol/messages/messages.ts';
import { LIMIT_CEILINGS } from '../../contracts/jobs/limits.ts';
import { detachBytes, ValueFault } from '../../protocol/messages/value-bytes.ts';
import { checkOutput, type OutputSchema } from '../request/output-schema.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';

/**
 * Checks the value of a run against the schema of its job. Earlier verdicts for the agent in the sandbox do not count.
 *
 * @returns the result with the value as the schema transforms it, or with outcome `failed`
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
 * Checks a value against a schema; `undefined` means that the program returned no value. The schema may transform the value; the transformed
 * value must be JSON, because it becomes a part of the result.
 */
export async function valueVerdict(schema: OutputSchema, value: unknown): Promise<CheckedValue> {
  if (value === undefined) return { fault: 'it is missing' };
  const checked = await checkOutput(schema, value);
  return 'fault' in checked ? checked : jsonOf(checked.value);
}

function jsonOf(made: unknown): CheckedValue {
  try {
    const { json } = detachBytes(made, { jsonBytes: LIMIT_CEILINGS.valueBytes, partBytes: 0 });
    if (json !== undefined) return { value: json };
    return { fault: 'its schema transforms it to nothing' };
  } catch (error) {
    const reason = error instanceof ValueFault ? error.message : 'it cannot be read';
    return { fault: `its schema transforms it to a value that cannot be kept: ${reason}` };
  }
}
