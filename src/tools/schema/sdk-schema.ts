import { faultLine, type ValueFault } from './fault-line.ts';
import { compileJsonSchema } from './json-schema/json-schema.ts';
import { issueFault } from './standard-schema.ts';
import type { CompiledSchema, SdkSchema, StandardIssue } from './tool-schema.ts';

/** Takes a schema of the AI SDK. Where its author checks values, that counts alone, as it does in the SDK. */
export function compileSdkSchema(
  { jsonSchema, validate }: SdkSchema,
  outside: boolean,
): CompiledSchema | Promise<CompiledSchema> {
  if ('then' in jsonSchema && typeof jsonSchema.then === 'function')
    return Promise.resolve(jsonSchema).then((json) => compile(json, validate, outside));
  return compile(jsonSchema, validate, outside);
}

function compile(json: object, validate: SdkSchema['validate'], outside: boolean): CompiledSchema {
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
