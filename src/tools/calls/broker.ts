import type { JobLimits } from '../../contracts/jobs/limits.ts';
import type { CallRow, CallTotal } from '../../contracts/jobs/result.ts';
import { createApprovalGate, type ApprovalGateOptions } from './approval-gate.ts';
import type { AroundModel, AskModelOptions } from '../../models/ask-model.ts';
import {
  MODEL_CALL,
  MODEL_REQUEST_BYTES,
  TOOL_JSON_BYTES,
  refusal,
  type BrokerCall,
  type BrokerReply,
  type IncomingBytes,
} from './broker-call.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { callModel } from './call-model.ts';
import { createCallRows } from './call-rows.ts';
import { callTool, type ToolAnswer, type ToolSurroundings } from './call-tool.ts';
import { createCallTally, type CallTally } from './call-tally.ts';
import type { AdmitCall } from './count-tool-calls.ts';
import { createEffectRecord } from './effect-record.ts';
import { askHost, type HostCalls } from './host-calls.ts';
import { measureJson } from './measure-json.ts';
import type { ModelBudget } from '../../models/model-budget.ts';
import type { ModelGateway } from '../../models/model-gateway.ts';
import type { OfferedTool } from '../define/offered-tool.ts';
import { ToolCallError } from '../define/tool-errors.ts';

/** Most calls of one job that run at once, and most bytes of arguments in the queue. */
const RUNNING_CALLS = 16;
const WAITING_BYTES = 16 * 1024 * 1024;
const NO_BYTES: IncomingBytes = { places: [], parts: Promise.resolve([]) };

/** Options of {@link createBroker}. */
export interface BrokerOptions {
  jobId: string;
  /** Tools of the job, by id. */
  tools: ReadonlyMap<string, OfferedTool>;
  /** The `context` from the caller of the job; only tools and `approve` see it. */
  context?: unknown;
  /** Only for jobs that may ask a model. */
  model?: ModelGateway | undefined;
  /** `provider/model` that the host chose; without it the gateway's own. */
  modelName?: string | undefined;
  /** Most requests to the model. @default `limits.calls` */
  modelCalls?: number | undefined;
  budget?: ModelBudget | undefined;
  /** Most calls of tools, with refused ones. @default no limit but `limits.calls` */
  toolCalls?: number | undefined;
  /** Calls from the agent of the sandbox to the host itself. */
  host?: HostCalls | undefined;
  /** Called for each request to the model, and for its answer. */
  onModelRequest?: AskModelOptions['observe'];
  limits: Pick<JobLimits, 'calls' | 'modelTimeoutMs' | 'approvalTimeoutMs'>;
  /** Whether the job may make more than one attempt. */
  repeats?: boolean | undefined;
  /** Calls of the job until now, which count for its limits. @default none */
  tally?: CallTally | undefined;
  /** Limits the calls of each tool. @default the count of the tally */
  admit?: AdmitCall | undefined;
  approve?: ApprovalGateOptions['approve'];
  onApproval?: ApprovalGateOptions['onEvent'] | undefined;
  /** Called when the job begins to wait for an approval, and when it continues. */
  onWaiting?: ((waiting: boolean) => void) | undefined;
  /** Values that must never reach the sandbox in an error. */
  secrets?: readonly string[] | undefined;
  /** Gets the real error of a tool, for the host's log. */
  onToolFailure?: ((name: string, error: unknown) => void) | undefined;
  /** Called with each row when its call is answered. */
  onAnswered?: ((row: CallRow) => void) | undefined;
  aroundCall?: AroundCall | undefined;
  aroundModel?: AroundModel | undefined;
}

/**
 * Wraps a call, for example in a trace; it must call `make`. The name is given only for calls that the host knows, because
 * programs can invent names.
 */
export type AroundCall = (
  called: Pick<BrokerCall, 'id' | 'target'> & { name: string | undefined },
  make: () => Promise<ToolAnswer>,
) => Promise<ToolAnswer>;

/** Host-side state of all calls of sandboxed code. One broker serves one job. */
export interface Broker {
  /**
   * Makes one call for the sandbox.
   *
   * @param call of the right form; its id, name and arguments are hostile, and are checked here
   * @param options the signal ends the call when the job ends; the bytes belong to the arguments
   * @returns the value or a sanitised error; never throws
   */
  call(call: BrokerCall, options: { signal: AbortSignal; bytes?: IncomingBytes | undefined }): Promise<BrokerReply>;
  /** Begins a run of the job's program; calls of the previous run are over. */
  beginAttempt(attempt: number): void;
  /** Ends a run: its calls are aborted, and no tool runs until the next run begins. */
  endAttempt(): void;
  /** Calls of tools with a certain or possible effect, one line each. */
  effects(): string[];
  /** Calls with a valid id, in order of start; the first thousand. */
  readonly rows: CallRow[];
  /** All calls, by tool. */
  readonly totals: Record<string, CallTotal>;
  /** Reason why the job may make no more calls, once it exceeded `limits.calls` or `toolCalls`; refused calls count too. */
  readonly exhausted: string | undefined;
  /** Why the model did not answer. The orchestrator throws it, or ends the job as timeout for a `ModelTimeout`. */
  readonly modelFailure: Error | undefined;
  /** Refuses further calls and aborts running ones. Idempotent. */
  close(): void;
}

/**
 * Creates the broker of one job.
 *
 * @param options tools and limits of the job
 * @returns the broker
 */
export function createBroker(options: BrokerOptions): Broker {
  const rows = createCallRows();
  const closing = new AbortController();
  const tally = options.tally ?? createCallTally();
  const around = toolSurroundings(options, tally);
  let attempt = 1;
  let attemptOver = new AbortController();
  let toolsEnd: { job: AbortSignal; signal: AbortSignal } | undefined;
  let lastId = 0;
  const { toolCalls: mostToolCalls = Infinity, aroundCall = (_called, make) => make() } = options;
  let exhausted: string | undefined;
  let modelCallsLeft = options.modelCalls ?? options.limits.calls;
  let modelFailure: Error | undefined;

  const endAttempt = (): void => attemptOver.abort(new Error('The attempt is over.'));

  /** Signal that ends the tools of this attempt; all its calls share it. */
  const endOfTools = (job: AbortSignal): AbortSignal => {
    if (toolsEnd?.job !== job) toolsEnd = { job, signal: AbortSignal.any([job, closing.signal, attemptOver.signal]) };
    return toolsEnd.signal;
  };

  const useTool = async (
    call: BrokerCall,
    { places, parts }: IncomingBytes,
    signal: AbortSignal,
  ): Promise<ToolAnswer> => {
    const offered = options.tools.get(call.name);
    if (offered === undefined)
      throw new ToolCallError('tool.not-allowed', `The job does not have the tool ${JSON.stringify(call.name)}.`);
    const measured = measureJson(call.args ?? null, { maxBytes: TOOL_JSON_BYTES });
    if ('fault' in measured) {
      const code = measured.isTooLarge ? 'tool.too-large' : 'tool.invalid-arguments';
      throw new ToolCallError(code, `The arguments are not acceptable: ${measured.fault}.`);
    }
    const { bytes } = measured;
    return callTool(offered, { id: call.id, attempt, args: call.args, bytes, places, parts, signal }, around);
  };

  const askModel = async (call: BrokerCall, signal: AbortSignal): Promise<BrokerReply> => {
    const { model: gateway, modelName, limits } = options;
    if (call.name !== MODEL_CALL) return refusal('tool.not-allowed', 'a model cannot be asked for this');
    if (gateway === undefined) return refusal('tool.not-allowed', 'the job has no model');
    if (modelCallsLeft <= 0) return refusal('tool.limit', 'the job has no request to the model left');
    const measured = measureJson(call.args ?? null, { maxBytes: MODEL_REQUEST_BYTES });
    if ('fault' in measured)
      return refusal('tool.invalid-arguments', `the request is not acceptable: ${measured.fault}`);
    modelCallsLeft -= 1;
    if (!(await withinDeadline(tally.mayCall(), { signal }))) return refusal('tool.job-over', 'the job is over');
    return callModel({
      gateway,
      modelName,
      args: call.args,
      timeoutMs: limits.modelTimeoutMs,
      signal,
      budget: options.budget,
      observe: options.onModelRequest,
      around: options.aroundModel,
      onFailure: (error) => (modelFailure ??= error),
    });
  };

  const refuseMore = (most: string): BrokerReply => {
    exhausted ??= `The job may make ${most}.`;
    return refusal('tool.limit', `the job may make ${most}`);
  };

  const answer = async (call: BrokerCall, bytes: IncomingBytes, signal: AbortSignal): Promise<ToolAnswer> => {
    try {
      if (call.fault !== undefined)
        throw new ToolCallError('tool.invalid-arguments', `The arguments are not acceptable: ${call.fault}.`);
      if (call.target === 'model') return { reply: await askModel(call, signal), replayed: false };
      if (call.target === 'host') return { reply: await askHost(call, options.host), replayed: false };
      return await useTool(call, bytes, signal);
    } catch (error) {
      return { reply: { ok: false, error: callError(error, signal) }, replayed: false };
    }
  };

  return {
    rows: rows.kept,
    get totals() {
      return rows.totals;
    },
    get exhausted() {
      return exhausted;
    },
    get modelFailure() {
      return modelFailure;
    },
    async call(call, { signal, bytes = NO_BYTES }) {
      // If the call is refused early, no code awaits the bytes.
      bytes.parts.catch(() => undefined);
      const ends = call.target === 'tool' ? endOfTools(signal) : AbortSignal.any([signal, closing.signal]);
      if (ends.aborted) return refusal('tool.job-over', 'the job is over');
      tally.arrived += 1;
      if (tally.arrived > options.limits.calls) return refuseMore(`${options.limits.calls} calls`);
      if (call.id <= lastId) return refusal('tool.invalid-arguments', 'its id was used before');
      lastId = call.id;

      const { id, target, name } = call;
      if (target === 'tool' && (tally.toolsArrived += 1) > mostToolCalls)
        return refuseMore(`${mostToolCalls} calls of tools`);
      const row = rows.begin({ id, target, name }, options.tools.has(name));
      const started = performance.now();
      const isKnown = target === 'tool' ? options.tools.has(name) : options.host?.has(name) === true;
      const called = { id, target, name: isKnown ? name : undefined };
      const { reply, replayed } = await aroundCall(called, () => answer(call, bytes, ends));
      row.durationMs = Math.round(performance.now() - started);
      row.ok = reply.ok;
      if (!reply.ok) Object.assign(row, { code: reply.error.code, error: reply.error.message });
      if (replayed) row.replayed = true;
      rows.answered(row);
      options.onAnswered?.(row);
      return reply;
    },
    beginAttempt(next) {
      attempt = next;
      endAttempt();
      attemptOver = new AbortController();
      toolsEnd = undefined;
      around.effects?.nextAttempt();
    },
    endAttempt,
    effects: () => around.effects?.list() ?? [],
    close() {
      closing.abort(new Error('The job is over.'));
    },
  };
}

function toolSurroundings(options: BrokerOptions, tally: CallTally): ToolSurroundings {
  const { jobId, context, secrets = [], approve, limits, onToolFailure } = options;
  return {
    jobId,
    context,
    secrets,
    onToolFailure,
    gate: createLimiter({ room: RUNNING_CALLS, queue: WAITING_BYTES }),
    admit: options.admit ?? tally.admit,
    mayCall: tally.mayCall,
    onEffect: (tool) => tally.change(tool),
    effects: options.repeats === true ? createEffectRecord() : undefined,
    approval: createApprovalGate({
      approve,
      timeoutMs: limits.approvalTimeoutMs,
      secrets,
      onWaiting: (waiting) => options.onWaiting?.(waiting),
      onEvent: (event) => options.onApproval?.(event),
      onFailure: (error) => onToolFailure?.('approve', error),
    }),
  };
}

/** The error of a failed call, for the program. An unknown error means that the job ended, or that a callback of the host failed. */
function callError(error: unknown, signal: AbortSignal): { code: string; message: string } {
  if (signal.aborted) return refusal('tool.job-over', 'the job is over').error;
  if (error instanceof ToolCallError) return { code: error.code, message: error.message };
  return { code: 'tool.failed', message: 'The call failed on the host.' };
}
