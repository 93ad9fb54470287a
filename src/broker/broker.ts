import * as z from 'zod/mini';
import type { JobLimits } from '../contracts/limits.ts';
import type { CallRow } from '../contracts/result.ts';
import {
  MODEL_CALL,
  MODEL_REQUEST_BYTES,
  TOOL_JSON_BYTES,
  brokerCallSchema,
  refusal,
  type BrokerCall,
  type BrokerReply,
} from './broker-call.ts';
import { createCallGate } from './call-gate.ts';
import { callModel } from './call-model.ts';
import { callTool } from './call-tool.ts';
import { measureJson } from './measure-json.ts';
import type { ModelGateway } from './model-gateway.ts';
import type { ToolHandler } from './tool-handler.ts';
import { withinDeadline } from '../protocol/within-deadline.ts';

/** Calls of one job that run at once, and bytes of arguments that wait behind them. */
const RUNNING_CALLS = 16;
const WAITING_BYTES = 16 * 1024 * 1024;

/** Options of {@link createBroker}. */
export interface BrokerOptions {
  jobId: string;
  /** What the job may call, by name. */
  tools: ReadonlyMap<string, ToolHandler>;
  /** Only for jobs that may ask a model. */
  model?: ModelGateway | undefined;
  /** `provider/model` that the host chose; without it the gateway's own. */
  modelName?: string | undefined;
  /** Most requests to the model. @default `limits.calls` */
  modelCalls?: number | undefined;
  limits: Pick<JobLimits, 'calls' | 'modelTimeoutMs'>;
  /** Values that never may reach the sandbox in an error. */
  secrets?: readonly string[] | undefined;
  /** Gets the real error of a tool, for the host's log. */
  onToolFailure?: ((name: string, error: unknown) => void) | undefined;
  /** Told of each row once its call is answered. */
  onAnswered?: ((row: CallRow) => void) | undefined;
}

/** The host's side of everything that sandboxed code asks for. One broker serves one job. */
export interface Broker {
  /**
   * Makes one call for the sandbox.
   *
   * @param call hostile: its form, id, name and arguments are checked here
   * @param options the signal ends the call when the job ends
   * @returns the value or a sanitised error; never throws
   */
  call(call: BrokerCall, options: { signal: AbortSignal }): Promise<BrokerReply>;
  /** Calls with a valid id, in order of start; never more than `limits.calls`. */
  readonly rows: CallRow[];
  /** Whether more calls than `limits.calls` arrived, refused ones counted. */
  readonly exhausted: boolean;
  /** Why the model did not answer: the orchestrator throws it, or ends the job as timeout for a `ModelTimeout`. */
  readonly modelFailure: Error | undefined;
  /** Refuses what comes after, aborts what runs. Idempotent. */
  close(): void;
}

/**
 * Creates the broker of one job.
 *
 * @param options what the job may call, and how often
 * @returns the broker
 */
export function createBroker(options: BrokerOptions): Broker {
  const rows: CallRow[] = [];
  const usedIds = new Set<number>();
  const closing = new AbortController();
  const gate = createCallGate(RUNNING_CALLS, WAITING_BYTES);
  let arrived = 0;
  let modelCallsLeft = options.modelCalls ?? options.limits.calls;
  let modelFailure: Error | undefined;

  const run = async (call: BrokerCall, bytes: number, signal: AbortSignal): Promise<BrokerReply> => {
    const leave = await gate.enter(bytes);
    if (leave === undefined) return refusal('too many calls wait at once');
    try {
      if (signal.aborted) return refusal('the job is over');
      return call.target === 'model' ? await askModel(call, signal) : await useTool(call, signal);
    } finally {
      leave();
    }
  };

  const useTool = async (call: BrokerCall, signal: AbortSignal): Promise<BrokerReply> => {
    const tool = options.tools.get(call.name);
    if (tool === undefined) return refusal('the job has no tool of this name');
    const { jobId, secrets = [], onToolFailure } = options;
    return callTool({ name: call.name, tool, args: call.args, context: { signal, jobId }, secrets, onToolFailure });
  };

  const askModel = async (call: BrokerCall, signal: AbortSignal): Promise<BrokerReply> => {
    const { model: gateway, modelName, limits } = options;
    if (call.name !== MODEL_CALL) return refusal('a model cannot be asked for this');
    if (gateway === undefined) return refusal('the job has no model');
    if (modelCallsLeft <= 0) return refusal('the job has no request to the model left');
    modelCallsLeft -= 1;
    return callModel({
      gateway,
      modelName,
      args: call.args,
      timeoutMs: limits.modelTimeoutMs,
      signal,
      onFailure: (error) => (modelFailure ??= error),
    });
  };

  const answer = async (call: BrokerCall, signal: AbortSignal): Promise<BrokerReply> => {
    const maxBytes = call.target === 'model' ? MODEL_REQUEST_BYTES : TOOL_JSON_BYTES;
    const measured = measureJson(call.args ?? null, { maxBytes });
    if ('fault' in measured) return refusal(`the arguments are not acceptable, got ${measured.fault}`);
    try {
      return await withinDeadline(run(call, measured.bytes, signal), { signal });
    } catch {
      // `run` answers every failure itself: what arrives here is the end of the job, or a fault of the host's callback.
      if (signal.aborted) return refusal('the job is over');
      return { ok: false, error: { name: 'CallFailed', message: 'The call failed on the host.' } };
    }
  };

  return {
    rows,
    get exhausted() {
      return arrived > options.limits.calls;
    },
    get modelFailure() {
      return modelFailure;
    },
    async call(unchecked, { signal }) {
      if (closing.signal.aborted || signal.aborted) return refusal('the job is over');
      arrived += 1;
      if (arrived > options.limits.calls) return refusal(`the job may make ${options.limits.calls} calls`);
      const parsed = z.safeParse(brokerCallSchema, unchecked);
      if (!parsed.success) return refusal('it is not of the form { id, target, name, args }');
      const call = parsed.data;
      if (usedIds.has(call.id)) return refusal('its id was used before');
      usedIds.add(call.id);

      const row: CallRow = { id: call.id, target: call.target, name: call.name, ok: false, durationMs: 0 };
      rows.push(row);
      const started = performance.now();
      const reply = await answer(call, AbortSignal.any([signal, closing.signal]));
      row.durationMs = Math.round(performance.now() - started);
      row.ok = reply.ok;
      if (!reply.ok) row.error = reply.error.message;
      options.onAnswered?.(row);
      return reply;
    },
    close() {
      closing.abort(new Error('The job is over.'));
    },
  };
}
