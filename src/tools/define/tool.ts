import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { MAX_CALL_BYTES } from '../../protocol/calls-under-way.ts';
import { parametersFault } from './parameters-fault.ts';
import type { ToolSchema } from '../schema/schema-source.ts';

/** Context of a tool's call, beside its input. All of it comes from the job, never from the call. */
export interface ToolContext {
  /** The `context` from the caller of the job; undefined without it. */
  context: unknown;
  /** Aborted when the tool runs out of time, and when the job or the calling attempt ends before the tool does. */
  signal: AbortSignal;
  jobId: string;
  /** Number of the calling run of the job's program, from 1. */
  attempt: number;
}

/** A function of the host that sandboxed code may call by its id. */
export interface Tool {
  /** Names of letters, digits, `_` and `-`, joined by dots: `crm.find`. At most 200 characters. */
  readonly id: string;
  /** One or two sentences; the model reads them. */
  readonly description: string;
  /** Without it, any JSON value is accepted. */
  readonly input?: ToolSchema | undefined;
  /** Schema of the result; the result is checked before the program gets it. */
  readonly output?: ToolSchema | undefined;
  /** Whether the schemas are untrusted. They must then be JSON schemas within limits. @default false */
  readonly outside?: boolean | undefined;
  /** `write`: an equal call of a later attempt is answered from the record, not made again. @default 'write' */
  readonly effect?: 'read' | 'write' | undefined;
  /** `always`: each call waits until the orchestrator's `approve` allows it. @default 'never' */
  readonly approval?: 'never' | 'always' | undefined;
  /** Time of one call, in milliseconds. @default 60,000 */
  readonly timeoutMs?: number | undefined;
  /** Most calls in one job. @default the job's own limit */
  readonly maxCalls?: number | undefined;
  /** Most bytes of a result; its JSON has at most 256 KiB in any case. @default 8 MiB, the maximum */
  readonly maxResultBytes?: number | undefined;
  /**
   * Runs on the host with the host's rights. Its input is hostile: the tool itself must check paths and addresses in it. It
   * resolves with JSON, with `Uint8Array`s anywhere in it. Only the message of a `ToolError` reaches the sandbox; for every
   * other error, the sandbox learns only that the tool failed.
   *
   * @example
   * ```ts
   * import { defineTool } from 'skillcell';
   *
   * const upper = defineTool({
   *   id: 'text.upper',
   *   description: 'Writes a text in capitals.',
   *   effect: 'read',
   *   execute: async (input) => String(input).toUpperCase(),
   * });
   * const around = { signal: AbortSignal.timeout(1_000), jobId: 'job-1', attempt: 1, context: undefined };
   * console.log(await upper.execute('abc', around));
   * // prints: ABC
   * ```
   */
  execute(input: unknown, around: ToolContext): Promise<unknown>;
}

/** Options of {@link defineTool}. With a zod schema, the input of `execute` is typed. */
export type ToolDefinition<Input extends ToolSchema> = Omit<Tool, 'input' | 'execute'> & {
  readonly input?: Input;
  execute(input: Input extends z.core.$ZodType ? z.core.output<Input> : unknown, around: ToolContext): Promise<unknown>;
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Most bytes of arguments or of a result. */
export const TOOL_VALUE_BYTES: number = MAX_CALL_BYTES;
const MAX_ID = 200;
const ID = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;

const schema = z.optional(
  z.unknown().check(
    z.superRefine((value, context) => {
      const fault = parametersFault(value);
      if (fault !== undefined) context.addIssue({ code: 'custom', ...fault });
    }),
  ),
);
const whole = (most: number): z.ZodMiniOptional<z.ZodMiniNumber> =>
  z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(most)));

const toolFields = {
  id: z
    .string()
    .check(
      z.maxLength(MAX_ID),
      z.regex(ID, 'must be names of letters, digits, _ and - joined by dots, such as crm.find'),
    ),
  description: z.string(),
  input: schema,
  output: schema,
  outside: z.optional(z.boolean()),
  effect: z.optional(z.enum(['read', 'write'])),
  approval: z.optional(z.enum(['never', 'always'])),
  timeoutMs: whole(LONGEST_TIMER_MS),
  maxCalls: whole(1_000_000),
  maxResultBytes: whole(TOOL_VALUE_BYTES),
  execute: z.custom((value) => typeof value === 'function', 'must be a function'),
};

/**
 * Checks that a value is a tool, with the faults if it is not. A tool may be an instance of a class: the check only reads
 * its fields.
 */
export const toolSchema: z.ZodMiniType<Tool> = z.looseObject(toolFields) as unknown as z.ZodMiniType<Tool>;
const definitionSchema = z.strictObject(toolFields) as unknown as z.ZodMiniType<Tool>;

/**
 * Defines a tool. Faults of the definition are reported here, not at the first call.
 *
 * @param definition id, description, schemas, and the function itself
 * @returns the tool, for `createOrchestrator({ tools })`
 * @throws SkillcellError `options.invalid`, with the name of the field
 * @example
 * ```ts
 * import { createOrchestrator, defineTool } from 'skillcell';
 * import * as z from 'zod';
 *
 * const find = defineTool({
 *   id: 'crm.find',
 *   description: 'Finds a customer by name.',
 *   input: z.strictObject({ name: z.string() }),
 *   effect: 'read',
 *   execute: async ({ name }) => ({ name, since: 2019 }),
 * });
 * await using orchestrator = createOrchestrator({ tools: [find] });
 * const code = `import { tools } from 'skillcell';
 * console.log((await tools.crm.find({ name: 'Ada' })).since);`;
 * console.log((await orchestrator.exec({ code, tools: ['crm.find'] })).stdout.text.trim());
 * // prints: 2019
 * ```
 */
export function defineTool<Input extends ToolSchema>(definition: ToolDefinition<Input>): Tool {
  checkOptions(definitionSchema, definition, { action: 'define the tool', whole: 'the tool' });
  return { ...definition };
}
