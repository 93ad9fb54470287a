import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { isStandardSchema, isZodSchema, SDK_SCHEMA, type ToolSchema } from './schema-source.ts';
import { compileJsonSchema } from './json-schema/json-schema.ts';
import { SchemaRefused } from './schema-refused.ts';
import { compileSdkSchema } from './sdk-schema.ts';
import { compileStandardSchema } from './standard-schema.ts';
import type { CompiledSchema, CompileSchemaOptions, SdkSchema } from './tool-schema.ts';
import { compileZodSchema } from './zod-schema.ts';

/**
 * Prepares the schema of a tool for enforcement. The host enforces each keyword and format of a JSON schema, or refuses the
 * schema; `default` is only a note and fills nothing in. Schemas of zod and of other libraries enforce themselves, with
 * defaults and transformations.
 *
 * @throws {SkillcellError} `tool.schema-unsupported` names the keyword that cannot be enforced, and its place
 */
export async function compileToolSchema(
  source: ToolSchema,
  options: CompileSchemaOptions = {},
): Promise<CompiledSchema> {
  return await compileAtOnce(source, options);
}

/** Compiles a schema, without a promise if the schema gives its JSON schema at once, as most do. */
export function compileAtOnce(
  source: ToolSchema,
  { io = 'input', subject = 'the tool', outside = false }: CompileSchemaOptions = {},
): CompiledSchema | Promise<CompiledSchema> {
  const refuse = (error: unknown): never => {
    throw error instanceof SchemaRefused ? unsupported(subject, error) : error;
  };
  try {
    const compiled = compile(isMadeLater(source) ? source() : source, io, outside);
    return compiled instanceof Promise ? compiled.catch(refuse) : compiled;
  } catch (error) {
    return refuse(error);
  }
}

function unsupported(subject: string, { path, message: found }: SchemaRefused): SkillcellError {
  const at = path.length === 0 ? '' : ` at ${path.map((key) => shownKey(key)).join('.')}`;
  const message = `Cannot offer ${subject}: its schema cannot be enforced whole, got ${found}${at}.`;
  return new SkillcellError('tool.schema-unsupported', message);
}

function compile(source: unknown, io: 'input' | 'output', outside: boolean): CompiledSchema | Promise<CompiledSchema> {
  const isSchemaObject = typeof source === 'function' || (typeof source === 'object' && source !== null);
  if (outside || !isSchemaObject) return compileJsonSchema(source, outside);
  if (isZodSchema(source)) return compileZodSchema(source, io);
  if (SDK_SCHEMA in source) return compileSdkSchema(source as unknown as SdkSchema, outside);
  if (isStandardSchema(source)) return compileStandardSchema(source, io);
  return compileJsonSchema(source, outside);
}

/** A function returns a schema, unless it is one itself: schemas of some libraries are callable. */
function isMadeLater(source: ToolSchema): source is Extract<ToolSchema, () => unknown> {
  return typeof source === 'function' && !isStandardSchema(source);
}

function shownKey(key: string): string {
  return /^[\w$-]{1,60}$/.test(key) ? key : quotedText(key);
}
