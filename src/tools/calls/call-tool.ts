import { TOOL_CALL_CODES, type ToolCallCode } from '../../contracts/errors/tool-call-codes.ts';
import { attachBytes, type BytesPlace, detachBytes, ValueFault } from '../../protocol/messages/value-bytes.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { ApprovalGate } from './approval-gate.ts';
import { type BrokerReply, TOOL_JSON_BYTES } from './broker-call.ts';
import type { Limiter } from '../../protocol/limiter.ts';
import type { AdmitCall } from './count-tool-calls.ts';
import type { EffectCall, EffectRecord } from './effect-record.ts';
import type { OfferedTool } from '../define/offered-tool.ts';
import { sanitizeErrorText } from '../../models/redact.ts';
import { type Tool, TOOL_VALUE_BYTES } from '../define/tool.ts';
import { ToolCallError, ToolError } from '../define/tool-errors.ts';

/** A signal that is created on demand: most calls end before it is needed. */
class LateSignal {
  #controller: AbortController | undefined;
  #over: Error | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over !== undefined) this.#controller.abort(this.#over);
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  /** The first reason counts. */
  abort(reason: Error): void {
    this.#over ??= reason;
    this.#controller?.abort(this.#over);
  }
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** One error for all calls, because the stack of each would be useless. */
const CALL_OVER = new Error('The call is over.');

/** State that the tools of one job share. */
export interface ToolSurroundings {
  jobId: string;
  context: unknown;
  secrets: readonly string[];
  approval: ApprovalGate;
  gate: Limiter;
  /** Counts a call before it is made. @throws ToolCallError `tool.limit` if the job has used up the calls of the tool */
  admit: AdmitCall;
  /** Absent if a job makes only one attempt. */
  effects: EffectRecord | undefined;
  /** Whether a tool may run now. */
  mayCall(): boolean | Promise<boolean>;
  /** Called before a tool runs that may change something, and waits for the answer, if any. */
  onEffect(tool: string): Promise<void> | undefined;
  /** Gets the real error of a tool, for the host's log. */
  onToolFailure?: ((name: string, error: unknown) => void) | undefined;
}

/** One call of a tool that the job has. */
export interface ToolCall {
  id: number;
  attempt: number;
  /** The JSON of the arguments; `bytes` is its size, `places` and `parts` are the bytes within it. */
  args: unknown;
  bytes: number;
  places: readonly BytesPlace[];
  parts: Promise<Uint8Array[]>;
  signal: AbortSignal;
}

/** Reply to a call, and whether it came from the record of an earlier attempt. */
export interface ToolAnswer {
  reply: BrokerReply;
  replayed: boolean;
}

/**
 * Makes one call for a sandbox: checks the arguments, asks for approval if needed, and runs the tool. The sandbox gets the
 * sanitised message of a `ToolError`; every other error stays on the host.
 *
 * @throws ToolCallError for the program, or the reason of `signal`
 */
export async function callTool(offered: OfferedTool, call: ToolCall, around: ToolSurroundings): Promise<ToolAnswer> {
  const { tool } = offered;
  const { jobId, context, approval, gate } = around;
  const { attempt, signal } = call;
  const parts = call.places.length === 0 ? [] : await arrived(call);
  // The record identifies a call by the arguments from the sandbox, not by the result of the schema.
  const effect = tool.effect === 'read' ? undefined : around.effects?.call(tool.id, call.args, call.places, parts);
  // A function in a schema may take as long as the tool itself.
  const input = await withinDeadline(checked(offered, 'input', attach(call, parts)), {
    limitMs: timeoutOf(tool),
    overdue: () => throwOverdue(tool),
    signal,
  });
  const known = effect?.earlier;
  if (known?.state === 'done' && known.reply !== undefined) return { reply: known.reply, replayed: true };
  if (known !== undefined) {
    throw new ToolCallError(
      'tool.effect-unknown',
      `An earlier attempt made this call of ${tool.id}, and its end is not known.`,
    );
  }
  around.admit(tool);
  if (tool.approval === 'always') {
    const { id } = call;
    const request = { jobId, context, call: id, tool: tool.id, description: tool.description, input, attempt };
    const reason = await approval.ask(request, signal);
    if (reason !== undefined)
      throw new ToolCallError('tool.denied', `The call of ${tool.id} was not allowed: ${reason}.`);
  }
  const leave = await gate.enter({ size: call.bytes });
  if (leave === undefined) throw new ToolCallError('tool.limit', 'Cannot make the call: too many calls wait at once.');
  let keepsPlace = false;
  try {
    signal.throwIfAborted();
    // It may have waited for an approval, or for its place.
    if (!(await withinDeadline(around.mayCall(), { signal })))
      throw new ToolCallError('tool.job-over', 'The job is over.');
    const reply = await make(offered, input, call, around, effect);
    if (!reply.ok || reply.parts === undefined) return { reply, replayed: false };
    keepsPlace = true;
    return { reply: { ...reply, sent: leave }, replayed: false };
  } finally {
    if (!keepsPlace) leave();
  }
}

async function arrived({ parts, signal }: ToolCall): Promise<Uint8Array[]> {
  try {
    return await withinDeadline(parts, { signal });
  } catch {
    // The program ended before it had sent all bytes.
    throw new ToolCallError('tool.job-over', 'Cannot make the call: its bytes ended early.');
  }
}

function attach({ args, places }: ToolCall, parts: readonly Uint8Array[]): unknown {
  if (places.length === 0) return args;
  try {
    return attachBytes(structuredClone(args ?? null), places, parts);
  } catch (error) {
    throw new ToolCallError('tool.invalid-arguments', `Cannot make the call: ${(error as Error).message}.`);
  }
}

const SCHEMA_CODES = { input: 'tool.invalid-arguments', output: 'tool.invalid-result' } as const;

async function checked({ tool, ...schemas }: OfferedTool, side: 'input' | 'output', value: unknown): Promise<unknown> {
  const schema = schemas[side];
  if (schema === undefined) return value;
  const result = await schema.check(value);
  if (!('fault' in result)) return result.value;
  const what = side === 'input' ? `The arguments of ${tool.id} do` : `The result of ${tool.id} does`;
  throw new ToolCallError(SCHEMA_CODES[side], `${what} not fit: ${result.fault}.`);
}

function timeoutOf({ timeoutMs = DEFAULT_TIMEOUT_MS }: Tool): number {
  return timeoutMs;
}

function throwOverdue(tool: Tool): never {
  throw new ToolCallError('tool.timeout', `The tool ${tool.id} took longer than ${timeoutOf(tool) / 1000} s.`);
}

/** Runs the tool within its deadline and prepares its result. */
async function make(
  offered: OfferedTool,
  input: unknown,
  call: ToolCall,
  around: ToolSurroundings,
  effect: EffectCall | undefined,
): Promise<BrokerReply> {
  const { tool } = offered;
  const { jobId, context } = around;
  const { attempt } = call;
  const over = new LateSignal();
  const overdue = (): never => {
    over.abort(new DOMException('The call took too long.', 'TimeoutError'));
    return throwOverdue(tool);
  };
  const run = async (): Promise<BrokerReply> => {
    let value: unknown;
    try {
      value = await tool.execute(input, {
        context,
        jobId,
        attempt,
        get signal() {
          return over.signal;
        },
      });
    } catch (error) {
      // An aborted tool cannot report which effects it had until then.
      const isCutOff = over.aborted || call.signal.aborted;
      const mayHaveHappened = error instanceof ToolCallError && error.effect === 'unknown';
      if (!isCutOff && !mayHaveHappened) effect?.failed();
      throw toolFailure(tool.id, error, around);
    }
    const reply = await result(offered, value, around);
    effect?.done(reply);
    return reply;
  };
  const noted = tool.effect === 'read' ? undefined : around.onEffect(tool.id);
  if (noted !== undefined) await withinDeadline(noted, { signal: call.signal });
  effect?.begin();
  try {
    return await withinDeadline(run(), { limitMs: timeoutOf(tool), overdue, signal: call.signal });
  } finally {
    over.abort(call.signal.aborted ? (call.signal.reason as Error) : CALL_OVER);
  }
}

function toolFailure(id: string, error: unknown, { secrets, onToolFailure }: ToolSurroundings): ToolCallError {
  onToolFailure?.(id, error);
  const isKnown = error instanceof ToolError || error instanceof ToolCallError;
  // The list of codes is closed, even if the author of a tool uses another code.
  const isOfList = error instanceof ToolCallError && Object.hasOwn(TOOL_CALL_CODES, error.code);
  const code: ToolCallCode = isOfList ? error.code : 'tool.failed';
  return new ToolCallError(
    code,
    sanitizeErrorText(isKnown ? error.message : `The tool ${id} failed on the host.`, secrets),
  );
}

/** Prepares a result for the sandbox: a copy, so that getters and prototypes stay on the host. A faulty result becomes an error reply. */
async function result(offered: OfferedTool, value: unknown, { onToolFailure }: ToolSurroundings): Promise<BrokerReply> {
  const { tool } = offered;
  const partBytes = tool.maxResultBytes ?? TOOL_VALUE_BYTES;
  const caps = { jsonBytes: Math.min(TOOL_JSON_BYTES, partBytes), partBytes };
  try {
    const given = detachBytes(value, caps);
    const { output } = offered;
    if (output === undefined) return { ok: true, ...replyOf(given.json, given) };
    const whole = attachBytes(given.json, given.places, given.parts);
    const fitting = detachBytes(await checked(offered, 'output', whole), caps);
    return { ok: true, ...replyOf(fitting.json, fitting) };
  } catch (error) {
    onToolFailure?.(tool.id, error);
    if (error instanceof ToolCallError) return { ok: false, error: { code: error.code, message: error.message } };
    const fault = error instanceof ValueFault ? error.message : 'it cannot be read';
    const code: ToolCallCode =
      error instanceof ValueFault && error.isTooLarge ? 'tool.too-large' : 'tool.invalid-result';
    return { ok: false, error: { code, message: `The result of ${tool.id} cannot be sent: ${fault}.` } };
  }
}

function replyOf(
  json: unknown,
  { places, parts }: { places: BytesPlace[]; parts: Uint8Array[] },
): Omit<BrokerReply & { ok: true }, 'ok'> {
  return { value: json ?? null, ...(places.length === 0 ? {} : { places, parts }) };
}
