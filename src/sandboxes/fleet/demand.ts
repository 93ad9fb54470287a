import * as z from 'zod/mini';
import type { SandboxLimits } from '../../contracts/jobs/limits.ts';
import { sandboxLimitsSchema } from '../../contracts/jobs/limits-schema.ts';

/**
 * Settings of the engine. A demand whose worker died fails, and its client, which has added another by then, is not served twice. A new demand wakes
 * a worker at once: the delay, in seconds, is the longest wait for one.
 */
export const ENGINE = { lockDuration: 15_000, stalledInterval: 15_000, maxStalledCount: 0, drainDelay: 10 } as const;

/** A demand for a sandbox, as the engine holds it. Nothing of the user's is in it. */
export interface Demand {
  lease: string;
  leaseMs: number;
  client: string;
  language: string;
  limits: SandboxLimits;
}

const id = z.string().check(z.regex(/^[0-9a-f]{32}$/));

/** Schema of a demand. */
export const demandSchema = z.strictObject({
  lease: id,
  leaseMs: z.number().check(z.int(), z.minimum(1_000), z.maximum(600_000)),
  client: id,
  language: z.string().check(z.maxLength(32)),
  limits: z.required(sandboxLimitsSchema as never),
}) as unknown as z.ZodMiniType<Demand>;
