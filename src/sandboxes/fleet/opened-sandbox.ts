import * as z from 'zod/mini';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../../contracts/errors/error-registry.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../contracts/jobs/result.ts';
import type { SandboxUsage } from '../../contracts/jobs/usage.ts';
import type { SandboxExit } from '../runner.ts';
import { readJson } from './link/read-json.ts';

/** What a worker says of a sandbox that is ready. */
export interface OpenedSandbox {
  isolation: Isolation;
  warm: boolean;
  diagnostics: Diagnostic[];
}

/** What a worker says of a sandbox that has ended. */
export interface EndedSandbox extends SandboxExit {
  /** The last lines of its own programs. */
  complaint: string;
  /** The worker leaves the fleet, so the loss is no fault of the sandbox. */
  leaving: boolean;
  /** Its last counters; null where its runner has none. */
  usage: SandboxUsage | null;
}

/** The end of a sandbox whose own end is not known. */
export const LOST: SandboxExit = { cause: 'lost', oom: null, code: null };

/** The counters of a sandbox. */
export interface SandboxCounters {
  usage: SandboxUsage | null;
  memoryBytes: number | null;
}

/** Errors that a worker may name, of a start that failed. */
const START_ERRORS: ReadonlySet<string> = new Set<ErrorCode>([
  'runner.isolation-unmet',
  'runtime.missing',
  'sandbox.start-failed',
  'runner.unavailable',
]);

const text = (most: number): z.ZodMiniString => z.string().check(z.maxLength(most));
const counter = z.nullable(z.number().check(z.minimum(0)));
const usage = z.nullable(
  z.strictObject({ cpuMs: counter, maxRssBytes: counter, oomKills: counter, pidsRefused: counter }),
);
const openedSchema = z.strictObject({
  isolation: z.enum(ISOLATION_LEVELS as unknown as [string, ...string[]]),
  warm: z.boolean(),
  diagnostics: z
    .array(z.strictObject({ code: text(100), severity: z.enum(['error', 'warning', 'info']), message: text(2_000) }))
    .check(z.maxLength(20)),
}) as unknown as z.ZodMiniType<OpenedSandbox>;
const endedSchema = z.strictObject({
  cause: z.enum(['exit', 'killed', 'lost']),
  oom: z.nullable(z.boolean()),
  code: z.nullable(z.number()),
  complaint: text(16_000),
  leaving: z.boolean(),
  usage,
}) as unknown as z.ZodMiniType<EndedSandbox>;
const countersSchema = z.strictObject({
  usage,
  memoryBytes: counter,
}) as unknown as z.ZodMiniType<SandboxCounters>;
const refusedSchema = z.strictObject({ code: text(100), message: text(4_000) });

/** Reads what a worker says; undefined if it has another form. */
export const readOpened = (bytes: Buffer): OpenedSandbox | undefined => readJson(openedSchema, bytes);
export const readEnded = (bytes: Buffer): EndedSandbox | undefined => readJson(endedSchema, bytes);
export const readCounters = (bytes: Buffer): SandboxCounters | undefined => readJson(countersSchema, bytes);

/** The error of a start that failed on a worker. */
export function readRefused(bytes: Buffer, worker: string): SkillcellError {
  const { code, message } = readJson(refusedSchema, bytes) ?? { code: '', message: 'Cannot start a sandbox.' };
  const known = START_ERRORS.has(code) && Object.hasOwn(ERROR_REGISTRY, code);
  const ours = known ? (code as ErrorCode) : 'sandbox.start-failed';
  return new SkillcellError(ours, `${message.replace(/\.$/, '')} (worker ${worker}).`);
}
