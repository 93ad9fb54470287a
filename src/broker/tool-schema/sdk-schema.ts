import { faultLine, type ValueFault } from './fault-line.ts';
import { compileJsonSchema } from './json-schema.ts';
import { issueFault } from './standard-schema.ts';
import type { CompiledSchema, SdkSchema, StandardIssue } from './tool-schema.ts';

/** Takes a schema of the AI SDK. Where its author checks values, that counts alone, as it does in the SDK. */
export async function compileSdkSchema(schema: SdkSchema, outside: boolean): Promise<CompiledSchema> {
  const json = await schema.jsonSchema;
  const { validate } = schema;
  if (validate === undefined) return compileJsonSchema(json, outside);
  return {
    json: { ...json },
    async check(value) {
      const verdict = await validate(value);
      if (verdict.success) return { value: verdict.value };
      return { fault: faultLine(faultsOf(verdict.error)) };
    },
  };
}

/** The message of such an error repeats the value; the faults stand in the error, or in its cause. */
function faultsOf(error: Error): ValueFault[] {
  const { issues, cause } = error as { issues?: unknown; cause?: unknown };
  const found = [issues, cause, (cause as { issues?: unknown } | undefined)?.issues].find(Array.isArray);
  return found === undefined ? [{ path: [], text: error.message }] : (found as StandardIssue[]).map(issueFault);
}
