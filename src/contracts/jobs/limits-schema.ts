import * as z from 'zod/mini';
import { LIMIT_CEILINGS, MINIMUM_PIDS, type JobLimits, type SandboxLimits } from './limits.ts';

const whole = (maximum: number): z.ZodMiniNumber => z.number().check(z.int(), z.minimum(1), z.maximum(maximum));

const sandboxFields = {
  memoryMib: z.optional(whole(LIMIT_CEILINGS.memoryMib)),
  cpus: z.optional(z.number().check(z.minimum(0.01), z.maximum(LIMIT_CEILINGS.cpus))),
  pids: z.optional(z.number().check(z.int(), z.minimum(MINIMUM_PIDS), z.maximum(LIMIT_CEILINGS.pids))),
  workspaceMib: z.optional(whole(LIMIT_CEILINGS.workspaceMib)),
  workspaceInodes: z.optional(whole(LIMIT_CEILINGS.workspaceInodes)),
};

/** Limits that a caller sets on waiting (warm) sandboxes. */
export const sandboxLimitsSchema: z.ZodMiniType<Partial<SandboxLimits>> = z.strictObject(
  sandboxFields,
) as unknown as z.ZodMiniType<Partial<SandboxLimits>>;

/** Limits that a caller sets on one job; a missing limit takes its default. */
export const limitsSchema: z.ZodMiniType<Partial<JobLimits>> = z.strictObject({
  runTimeoutMs: z.optional(whole(LIMIT_CEILINGS.runTimeoutMs)),
  modelTimeoutMs: z.optional(whole(LIMIT_CEILINGS.modelTimeoutMs)),
  jobTimeoutMs: z.optional(whole(LIMIT_CEILINGS.jobTimeoutMs)),
  graceMs: z.optional(whole(LIMIT_CEILINGS.graceMs)),
  ...sandboxFields,
  keptOutputBytes: z.optional(whole(LIMIT_CEILINGS.keptOutputBytes)),
  totalOutputBytes: z.optional(whole(LIMIT_CEILINGS.totalOutputBytes)),
  artifactFiles: z.optional(whole(LIMIT_CEILINGS.artifactFiles)),
  artifactFileBytes: z.optional(whole(LIMIT_CEILINGS.artifactFileBytes)),
  artifactTotalBytes: z.optional(whole(LIMIT_CEILINGS.artifactTotalBytes)),
  artifactDepth: z.optional(whole(LIMIT_CEILINGS.artifactDepth)),
  calls: z.optional(whole(LIMIT_CEILINGS.calls)),
  approvalTimeoutMs: z.optional(whole(LIMIT_CEILINGS.approvalTimeoutMs)),
  valueBytes: z.optional(whole(LIMIT_CEILINGS.valueBytes)),
  networkConnections: z.optional(whole(LIMIT_CEILINGS.networkConnections)),
  networkRequests: z.optional(whole(LIMIT_CEILINGS.networkRequests)),
  networkBytesIn: z.optional(whole(LIMIT_CEILINGS.networkBytesIn)),
  networkBytesOut: z.optional(whole(LIMIT_CEILINGS.networkBytesOut)),
}) as unknown as z.ZodMiniType<Partial<JobLimits>>;
