import { faultLine, type ValueFault } from './fault-line.ts';
import { SchemaRefused } from './schema-refused.ts';
import type { CompiledSchema, SchemaSide, StandardIssue, StandardSchema, StandardVerdict } from './tool-schema.ts';

/** Compiles a schema of another library, which enforces itself. It must provide its JSON schema, because prompts and stubs need it. */
export function compileStandardSchema(
  schema: StandardSchema,
  io: SchemaSide,
): CompiledSchema | Promise<CompiledSchema> {
  const check: CompiledSchema['check'] = async (value) => verdictOf(await schema['~standard'].validate(value));
  const json = jsonOf(schema, io);
  return json === undefined ? zod3Json(schema).then((told) => ({ json: told, check })) : { json, check };
}

function jsonOf(
  { '~standard': { jsonSchema, vendor } }: StandardSchema,
  io: SchemaSide,
): CompiledSchema['json'] | undefined {
  try {
    return jsonSchema?.[io]({ target: 'draft-2020-12' });
  } catch (error) {
    throw new SchemaRefused(
      `a schema of ${vendor} that cannot be written as a JSON schema (${(error as Error).message})`,
    );
  }
}

function verdictOf(verdict: StandardVerdict): Awaited<ReturnType<CompiledSchema['check']>> {
  if (verdict.issues === undefined) return { value: verdict.value };
  return { fault: faultLine(verdict.issues.map(issueFault)) };
}

/** Converts an issue into a fault. */
export function issueFault({ message, path = [] }: StandardIssue): ValueFault {
  return { text: message, path: path.map((key) => (typeof key === 'object' ? key.key : key)) };
}

/** zod 3 cannot provide its JSON schema, but the AI SDK can. */
async function zod3Json(schema: StandardSchema): Promise<Record<string, unknown>> {
  if (schema['~standard'].vendor !== 'zod')
    throw new SchemaRefused(`a schema of ${schema['~standard'].vendor} that does not say its JSON schema`);
  const { zodSchema } = await import('ai');
  return { ...(await zodSchema(schema as Parameters<typeof zodSchema>[0]).jsonSchema) };
}
