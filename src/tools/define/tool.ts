import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { MAX_CALL_BYTES } from '../../protocol/calls-under-way.ts';
import { parametersFault } from './parameters-fault.ts';
import type { ToolSchema } from '../schema/schema-source.ts';

/** What a tool is told beside its input. All of it comes from the job, never from the call. */
export interface ToolContext {
  /** What the caller of the job gave as `context`; undefined without it. */
  context: unknown;
  /** Aborted when the tool has no time left, and when the job or the attempt that called ends before the tool does. */
  signal: AbortSignal;
  jobId: string;
  /** The run of the job's program that calls, from 1. */
  attempt: number;
}

/** A function of the host that sandboxed code may call by its id. */
export interface Tool {
  /** Names of letters, digits, `_` and `-`, joined by dots: `crm.find`. At most 200 characters. */
  readonly id: string;
  /** One or two sentences; the model reads them. */
  readonly description: string;
  /** Without it any JSON value is taken. */
  readonly input?: ToolSchema | undefined;
  /** What `execute` resolves with; checked before the program gets it. */
  readonly output?: ToolSchema | undefined;
  /** Whether the schemas come from someone who is not trusted: JSON schemas then, within caps. @default false */
  readonly outside?: boolean | undefined;
  /** `write`: an equal call of a later attempt is answered from the record instead of made again. @default 'write' */
  readonly effect?: 'read' | 'write' | undefined;
  /** `always`: each call waits until the orchestrator's `approve` allows it. @default 'never' */
  readonly approval?: 'never' | 'always' | undefined;
  /** Time of one call, in milliseconds. @default 60,000 */
  readonly timeoutMs?: number | undefined;
  /** Calls that a job may make. @default as many as the job may make at all */
  readonly maxCalls?: number | undefined;
  /** Bytes that a result may hold, and bytes of its JSON; of JSON at most 256 KiB. @default 8 MiB, which is the most */
  readonly maxResultBytes?: number | undefined;
  /**
   * Runs on the host with the host's rights. Its input is hostile; paths and addresses in it are for the tool to judge. It
   * resolves with JSON, with `Uint8Array`s anywhere in it. Only the message of a `ToolError` reaches the sandbox; of every
   * other error the sandbox learns that the tool failed.
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

/** Options of {@link defineTool}; with a zod schema `execute` has its type. */
export type ToolDefinition<Input extends ToolSchema> = Omit<Tool, 'input' | 'execute'> & {
  readonly input?: Input;
  execute(input: Input extends z.core.$ZodType ? z.core.output<Input> : unknown, around: ToolContext): Promise<unknown>;
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Bytes of arguments, and of a result. */
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
 * Whether a value is a tool, and what is wrong with it where it is not. A tool may be an instance of a class: what is checked of it is
 * only looked at.
 */
export const toolSchema: z.ZodMiniType<Tool> = z.looseObject(toolFields) as unknown as z.ZodMiniType<Tool>;
const definitionSchema = z.strictObject(toolFields) as unknown as z.ZodMiniType<Tool>;

/**
 * Defines a tool: what is wrong with it is said here and not at the first call.
 *
 * @param definition id, description, schemas, and the function itself
 * @returns the tool, for `createOrchestrator({ tools })`
 * @throws SkillcellError `options.invalid`, naming the field
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
