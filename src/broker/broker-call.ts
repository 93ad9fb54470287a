import * as z from 'zod/mini';

/** A call as it arrives from a sandbox. All of it is hostile. */
export interface BrokerCall {
  /** Whole number from 1, used once. */
  id: number;
  target: 'tool' | 'model';
  /** Name of a tool, or `generate` for a model. */
  name: string;
  args: unknown;
}

/** What becomes of a call. */
export type BrokerReply = { ok: true; value: unknown } | { ok: false; error: { name: string; message: string } };

/** The one thing that a model can be asked to do. */
export const MODEL_CALL = 'generate';
/** Bytes of the JSON of a tool's arguments, and of what it returns. */
export const TOOL_JSON_BYTES: number = 256 * 1024;
/** Bytes of the JSON of a model request: prompts carry whole skills. */
export const MODEL_REQUEST_BYTES: number = 4 * 1024 * 1024;

/** Characters of a name that is called. */
export const TOOL_NAME_CHARACTERS = 200;

/** Validates the outer form of a call; fields that we don't know (a job, a tenant) are refused. */
export const brokerCallSchema: z.ZodMiniType<BrokerCall> = z.strictObject({
  id: z.number().check(z.int(), z.minimum(1)),
  target: z.enum(['tool', 'model']),
  name: z.string().check(z.minLength(1), z.maxLength(TOOL_NAME_CHARACTERS)),
  args: z.unknown(),
});

/** A reply that refuses a call: it was not made. */
export function refusal(reason: string): BrokerReply & { ok: false } {
  return { ok: false, error: { name: 'CallRefused', message: `Cannot make the call: ${reason}.` } };
}
