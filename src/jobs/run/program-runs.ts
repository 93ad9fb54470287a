import type { ModelBudget } from '../../models/model-budget.ts';
import type { ModelGateway } from '../../models/model-gateway.ts';
import { deniedLines } from '../../contracts/network/denied-lines.ts';
import type { SandboxMessage } from '../../protocol/messages/messages.ts';
import type { Broker } from '../../tools/calls/broker.ts';
import type { CallTally } from '../../tools/calls/call-tally.ts';
import { HOST_CALL, type BrokerReply } from '../../tools/calls/broker-call.ts';
import type { HostCalls } from '../../tools/calls/host-calls.ts';
import { modelEvents } from '../events/model-events.ts';
import { type OutputCollector, receiveOutput } from '../events/receive-output.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { valueVerdict } from '../result/judge-result.ts';
import type { OpenNetwork } from '../network/open-job-network.ts';
import { createRunTrace, type RunTrace } from '../tracing/run-trace.ts';
import { type AgentRequests, createAgentRequests } from './agent-requests.ts';
import { answerCall, type CallTraffic } from './answer-call.ts';
import { createRunBroker } from './run-broker.ts';
import type { RunGround, SandboxRuns } from './run-ground.ts';

/** Model of the agent in a sandbox, and its budget. */
export interface AgentModel {
  model: ModelGateway | undefined;
  budget: ModelBudget;
  /** Calls of all attempts of the job. */
  tally: CallTally;
}

/** State of the runs, once the job has its sandbox. */
interface Begun {
  ground: RunGround;
  broker: Broker;
  traffic: CallTraffic;
  requests: AgentRequests;
  output: OutputCollector;
  trace: RunTrace;
  /** Ends the count of the requests of the last run; undefined without a network. */
  counted: ReturnType<OpenNetwork['count']> | undefined;
}

/** Creates the runs of a job's own program: the sandbox starts them, one in each attempt. */
export function createProgramRuns(agent: AgentModel): SandboxRuns {
  let begun: Begun | undefined;
  const started = (): Begun => {
    if (begun === undefined) throw new Error('a message before the job was sent');
    return begun;
  };
  return {
    begin: (ground) => void (begun = beginRuns(ground, agent)),
    message: (message) => takeMessage(started(), message),
    call(call, signal) {
      const { traffic, broker, ground } = started();
      // Not async: a breach of the protocol is thrown to the reader of the channel, which closes it.
      return answerCall(traffic, call, signal).then(() => {
        if (broker.exhausted !== undefined) ground.ending.cancel('calls');
      });
    },
    expectsBlock: (sha256) => started().requests.isExpected(sha256),
    end: () => begun?.output.flush(),
    output: (stream, bytes) => started().output.text(stream, bytes),
    close(result) {
      if (result !== undefined) begun?.trace.end(result);
      begun?.broker.close();
    },
    get rows() {
      return started().broker.rows;
    },
    get totals() {
      return started().broker.totals;
    },
    get exhausted() {
      return begun?.broker.exhausted;
    },
    get modelFailure() {
      return begun?.broker.modelFailure;
    },
  };
}

function beginRuns(ground: RunGround, { model, budget, tally }: AgentModel): Begun {
  const { job, emit, span } = ground;
  const { jobId, limits, request, kind } = job;
  const requests = createAgentRequests(job);
  const trace = createRunTrace(span, kind);
  const asked: AskedOfRuns = {
    effects: () => effectsOf(broker),
    denials: async () => {
      const use = await begun.counted?.();
      return use === undefined ? [] : deniedLines(use);
    },
  };
  const agent =
    kind === 'codegen'
      ? { model, host: hostCalls(job, requests, asked), repeats: true, modelCalls: modelCallsOf(job) }
      : {};
  const broker: Broker = createRunBroker(ground, {
    ...agent,
    emit,
    budget,
    tally,
    modelName: request.kind === 'codegen' ? request.model : undefined,
    toolCalls: request.budget?.toolCalls,
    onModelRequest: modelEvents(jobId, 'codegen', emit),
    aroundCall: trace.aroundCall,
    aroundModel: trace.aroundModel,
  });
  const output = receiveOutput({ jobId, emit, keptBytes: limits.keptOutputBytes, onEnd: () => trace.outputEnded() });
  const traffic = { ...ground.traffic, broker };
  const begun: Begun = { ground, broker, traffic, requests, output, trace, counted: undefined };
  return begun;
}

function takeMessage(begun: Begun, message: SandboxMessage): void {
  const { ground, broker, output, trace } = begun;
  const { job, emit, sandbox, network } = ground;
  const { jobId } = job;
  trace.take(message);
  if (message.type === 'run') {
    output.begin(sandbox.channel, message);
    output.flush();
    if (message.run > 1) broker.beginAttempt(message.run);
    void begun.counted?.();
    begun.counted = network?.count();
    void emit({ type: 'run', jobId, run: message.run });
  } else if (message.type === 'attempt') {
    const { attempt, maxAttempts, phase } = message;
    void emit({ type: 'attempt', jobId, attempt, maxAttempts, phase });
    if (message.phase === 'running') void emit({ type: 'code', jobId, attempt, code: message.code });
  } else if (SESSION_MESSAGES.has(message.type)) throw new Error('a message that only a session sends');
}

const SESSION_MESSAGES: ReadonlySet<SandboxMessage['type']> = new Set([
  'cell',
  'shown',
  'files',
  'filed',
  'spawned',
  'exited',
  'printed',
  'unfed',
]);

/** Effects of a failed run, for the agent. The open calls of that run are withdrawn first, so that no effect follows the report. */
function effectsOf(broker: Broker): string[] {
  broker.endAttempt();
  return broker.effects();
}

/** Facts about the runs that the agent asks for. */
interface AskedOfRuns {
  effects(): string[];
  denials(): Promise<string[]>;
}

/** Requests of the agent to the host. */
function hostCalls({ valueSchema }: PreparedJob, requests: AgentRequests, runs: AskedOfRuns): HostCalls {
  const calls: [string, (args: unknown) => Promise<BrokerReply & { ok: true }>][] = [
    [HOST_CALL.request, (text) => requests.serve(text)],
    [HOST_CALL.effects, async () => ({ ok: true, value: runs.effects() })],
    [HOST_CALL.denials, async () => ({ ok: true, value: await runs.denials() })],
  ];
  if (valueSchema !== undefined) {
    calls.push([
      HOST_CALL.judge,
      async (value) => {
        const verdict = await valueVerdict(valueSchema, value);
        return { ok: true, value: 'fault' in verdict ? { fault: verdict.fault } : {} };
      },
    ]);
  }
  return new Map(calls);
}

/** Maximum number of model calls: one for each attempt, and one for each request for more material. */
function modelCallsOf({ globals }: PreparedJob): number | undefined {
  const { codegen } = globals.JOB;
  return codegen === undefined ? undefined : codegen.maxAttempts + (codegen.requests ?? 0);
}
