import type { ProgramFile } from './extract-code.ts';
import type { CodegenAttempt } from '../../src/contracts/jobs/result.ts';
import type { RunOutcome } from '../run/run-outcome.ts';

/** One turn of the agent's conversation with the model. */
export interface AgentMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** A question of the agent to the model. The host chooses the model. */
export interface AgentRequest {
  system: string;
  messages: AgentMessage[];
}

/** The model's answer. */
export interface AgentAnswer {
  text: string;
  usage: { inputTokens: number | null; outputTokens: number | null };
  /** `provider/model`. */
  model: string;
  /** `length` when the answer was cut off. */
  finishReason?: string;
}

/** Tells the host the agent's progress and the program that the agent is about to run. Attempts count from 1. */
export type AttemptEvent =
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'asking' }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'running'; code: string };

/** The operations that the agent may use. */
export interface AgentPorts {
  /** Asks the model through the broker; rejects when it gives no answer. */
  askModel(request: AgentRequest): Promise<AgentAnswer>;
  /** Runs one program in an executor. A failing program is an outcome, not a rejection. */
  runCode(code: string, files: readonly ProgramFile[]): Promise<RunOutcome>;
  /** Serves a request that the model makes instead of a program. Returns the reply for the model. */
  serveRequest?(request: string): Promise<string>;
  event(event: AttemptEvent): void;
  /** Called for each attempt as soon as it is judged, so the attempt is known even if a later one is cut off. */
  attempted?(attempt: CodegenAttempt): void;
  /** Aborted when the job is over. */
  signal: AbortSignal;
}
