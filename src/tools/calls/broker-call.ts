import type { ToolCallCode } from '../../contracts/errors/tool-call-codes.ts';
import type { CallError } from '../../protocol/messages/messages.ts';
import type { BytesPlace } from '../../protocol/messages/value-bytes.ts';

/** A call as it arrives from a sandbox, in the form that `readSandboxCall` has checked. All that it says is hostile. */
export interface BrokerCall {
  /** Whole number from 1, above all before. */
  id: number;
  target: 'tool' | 'model' | 'host';
  /** Id of a tool, `generate` for a model, or one of `HOST_CALL`. */
  name: string;
  args: unknown;
  /** Why its arguments could not be read. */
  fault?: string | undefined;
}

/** The bytes of a call's arguments, which come beside its JSON. */
export interface IncomingBytes {
  places: readonly BytesPlace[];
  /** Resolves when all are there; rejects when they end early. */
  parts: Promise<Uint8Array[]>;
}

/**
 * What becomes of a call. `places` and `parts` are the bytes that stand in the value; who has sent them, or never will, says so by
 * `sent`, and until then the call keeps its place among those that run: a program that reads no answers gets no more of them made.
 */
export type BrokerReply =
  | { ok: true; value: unknown; places?: readonly BytesPlace[]; parts?: readonly Uint8Array[]; sent?: () => void }
  | { ok: false; error: CallError };

/** The one thing that a model can be asked to do. */
export const MODEL_CALL = 'generate';
/** What the host itself is asked: whether a value is the one that the job is to hand back, for more than the agent knows, and which effects calls have had. */
export const HOST_CALL = { judge: 'judge', request: 'request', effects: 'effects' } as const;
/** Bytes of the JSON of a tool's arguments, and of what it returns. */
export const TOOL_JSON_BYTES: number = 256 * 1024;
/** Bytes of the JSON of a model request: prompts carry whole skills. */
export const MODEL_REQUEST_BYTES: number = 4 * 1024 * 1024;

/** A reply to a call that gives no value. */
export function refusal(code: ToolCallCode, reason: string): BrokerReply & { ok: false } {
  return { ok: false, error: { code, message: `Cannot make the call: ${reason}.` } };
}
