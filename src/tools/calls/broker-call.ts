import type { ToolCallCode } from '../../contracts/errors/tool-call-codes.ts';
import type { CallError } from '../../protocol/messages/messages.ts';
import type { BytesPlace } from '../../protocol/messages/value-bytes.ts';

/** A call from a sandbox, in the form that `readSandboxCall` has checked. Its content is hostile. */
export interface BrokerCall {
  /** Whole number from 1, larger than all earlier ids. */
  id: number;
  target: 'tool' | 'model' | 'host';
  /** Id of a tool, `generate` for a model, or one of `HOST_CALL`. */
  name: string;
  args: unknown;
  /** Why its arguments were unreadable. */
  fault?: string | undefined;
}

/** The bytes of a call's arguments, which arrive beside its JSON. */
export interface IncomingBytes {
  places: readonly BytesPlace[];
  /** Resolves when all bytes have arrived; rejects when they end early. */
  parts: Promise<Uint8Array[]>;
}

/**
 * Reply to a call. `places` and `parts` are bytes within the value. The sender calls `sent` when they are sent or never will
 * be. Until then, the call occupies its place among the running calls, so a program that reads no answers causes backpressure.
 */
export type BrokerReply =
  | { ok: true; value: unknown; places?: readonly BytesPlace[]; parts?: readonly Uint8Array[]; sent?: () => void }
  | { ok: false; error: CallError };

/** The only request to a model. */
export const MODEL_CALL = 'generate';
/**
 * Calls to the host itself: judge the job's value beyond the agent's knowledge, serve a request, list the effects of earlier calls, and the
 * denied requests of the last run.
 */
export const HOST_CALL = { judge: 'judge', request: 'request', effects: 'effects', denials: 'denials' } as const;
/** The most bytes of the JSON of a tool's arguments or its result. */
export const TOOL_JSON_BYTES: number = 256 * 1024;
/** The most bytes of the JSON of a model request; prompts hold whole skills. */
export const MODEL_REQUEST_BYTES: number = 4 * 1024 * 1024;

/** A reply that refuses a call. */
export function refusal(code: ToolCallCode, reason: string): BrokerReply & { ok: false } {
  return { ok: false, error: { code, message: `Cannot make the call: ${reason}.` } };
}
