import { faultLine, type ValueFault } from './fault-line.ts';
import { compileJsonSchema } from './json-schema/json-schema.ts';
import { issueFault } from './standard-schema.ts';
import type { CompiledSchema, SdkSchema, StandardIssue } from './tool-schema.ts';

/** Compiles a schema of the AI SDK. If it has a `validate` function, only that counts, as in the SDK. */
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

/** The message of such an error repeats the value, so the faults are taken from the error or its cause. */
function faultsOf(error: Error): ValueFault[] {
  const { issues, cause } = error as { issues?: unknown; cause?: unknown };
  const found = [issues, cause, (cause as { issues?: unknown } | undefined)?.issues].find(Array.isArray);
  return found === undefined ? [{ path: [], text: error.message }] : (found as StandardIssue[]).map(issueFault);
}
