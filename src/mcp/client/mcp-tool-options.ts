import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';

/** Options of all tools of MCP servers. */
export interface McpToolOptions {
  /** Calls that need an approval: all, those of tools without `readOnlyHint`, or none. @default 'never' */
  readonly approval?: 'always' | 'write' | 'never';
  /** Time of one call, in milliseconds. @default 60,000 */
  readonly timeoutMs?: number;
  /** Calls of one tool that a job may make. @default as many as the job may make at all */
  readonly maxCalls?: number;
  /** Bytes that a result may hold, and bytes of its JSON. @default 8 MiB, and 256 KiB of JSON */
  readonly maxResultBytes?: number;
}

/** Options of `connectMcpTools`. */
export interface McpConnectOptions extends McpToolOptions {
  /** How long a server may take to start and to answer, and again to list its tools, in milliseconds. @default 30,000 */
  readonly connectTimeoutMs?: number;
  /** Aborts the connecting. */
  readonly signal?: AbortSignal;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
const MAX_RESULT_BYTES = 8 * 1024 * 1024;
const whole = (most: number): z.ZodMiniOptional<z.ZodMiniNumber> =>
  z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(most)));

const schema = z.strictObject({
  approval: z.optional(z.enum(['always', 'write', 'never'])),
  timeoutMs: whole(LONGEST_TIMER_MS),
  maxCalls: whole(1_000_000),
  maxResultBytes: whole(MAX_RESULT_BYTES),
  connectTimeoutMs: whole(LONGEST_TIMER_MS),
  signal: z.optional(z.custom((value) => value instanceof AbortSignal, 'must be an AbortSignal')),
}) as unknown as z.ZodMiniType<McpConnectOptions>;

/** Checks the options. @throws SkillcellError `options.invalid` */
export function readConnectOptions(given: McpConnectOptions): McpConnectOptions {
  checkOptions(schema, given, { action: 'connect MCP servers' });
  return given;
}
