import type { Schema, Tool, ToolExecutionOptions } from 'ai';
import * as z from 'zod/mini';
import { SDK_SCHEMA } from '../tools/schema/schema-source.ts';
import type { AgentTool } from '../tools/agent/skill-tools-table.ts';
import { checkOptions } from '../contracts/checks/check-options.ts';
import { ToolError } from '../tools/define/tool-errors.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The output for the service of the model. */
export type ModelOutput = Awaited<ReturnType<NonNullable<Tool['toModelOutput']>>>;

/** Options of {@link sdkTool}. */
export interface SdkToolOptions<Input, Output> {
  name: string;
  description: string;
  schema: z.ZodMiniType<Input>;
  /** Descriptions of the fields of the input, by name, besides those of the schema. */
  fields?: Record<string, string>;
  /** Descriptions that are known only later. */
  laterFields?: Promise<Record<string, string>> | undefined;
  execute(input: Input, execution: ToolExecutionOptions<unknown>): Promise<Output>;
  /** The part of the output that the model gets. @default all of it, as JSON */
  toModelOutput?: (given: { output: Output }) => ModelOutput;
}

/** Makes a tool of the AI SDK, without the SDK: errors name their code, and faults of the input have our messages, which the model reads. */
export function sdkTool<Input, Output>(options: SdkToolOptions<Input, Output>): Tool<Input, Output> {
  const made = {
    description: options.description,
    inputSchema: inputSchema(options),
    async execute(input: Input, execution: ToolExecutionOptions<unknown>) {
      try {
        return await options.execute(input, execution);
      } catch (error) {
        throw withCode(error);
      }
    },
    ...(options.toModelOutput === undefined ? {} : { toModelOutput: options.toModelOutput }),
  };
  return made as unknown as Tool<Input, Output>;
}

/** The declaration of a tool for agents, as the AI SDK has it. */
export function declared<Input>({
  name,
  forModels: description,
  input: schema,
}: AgentTool<Input>): Pick<SdkToolOptions<Input, never>, 'name' | 'description' | 'schema'> {
  return { name, description, schema };
}

/** The SDK recognizes its schemas by a mark. */
function inputSchema<Input>({
  name,
  schema,
  fields = {},
  laterFields,
}: Omit<SdkToolOptions<Input, never>, 'execute' | 'toModelOutput'>): Schema<Input> {
  const later = laterFields?.then((more) => jsonSchema(schema, { ...fields, ...more }));
  // A reader of the schema gets the failure. Without a reader, since the tool is not offered after all, it must not count as unhandled.
  later?.catch(() => undefined);
  const made = {
    [SDK_SCHEMA]: true,
    _type: undefined,
    jsonSchema: later ?? jsonSchema(schema, fields),
    validate(value: unknown) {
      try {
        return { success: true, value: checkOptions(schema, value, { action: `call ${name}`, whole: 'the input' }) };
      } catch (error) {
        return { success: false, error };
      }
    },
  };
  return made as unknown as Schema<Input>;
}

function jsonSchema(schema: z.ZodMiniType, texts: Record<string, string>): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  const properties = Object.entries(json.properties ?? {}).map(([field, part]) => {
    return [field, { ...(part as object), ...(texts[field] === undefined ? {} : { description: texts[field] }) }];
  });
  return { ...json, properties: Object.fromEntries(properties) as object };
}

/**
 * An error for the model and for the agent's log: the AI SDK passes only the message of an error on, so that the message also names
 * the code.
 */
function withCode(error: unknown): unknown {
  const ours = error instanceof ToolError ? asOurs(error) : error;
  if (!SkillcellError.isInstance(ours)) return error;
  const { code, message, hint, diagnostics } = ours;
  return new SkillcellError(code, `${message} (${code})`, { cause: ours, hint, diagnostics });
}

/** Errors of the tools of skills are about a reference, or about a file of a skill. */
function asOurs({ message, cause }: ToolError): SkillcellError {
  return SkillcellError.isInstance(cause) ? cause : new SkillcellError('skills.reference-unknown', message);
}
