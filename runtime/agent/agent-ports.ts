import type { ProgramFile } from './extract-code.ts';
import type { CodegenAttempt } from '../../src/contracts/jobs/result.ts';
import type { RunOutcome } from '../run/run-outcome.ts';

/** One turn of the agent's conversation with the model. */
export interface AgentMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** What the agent asks the model. Which model that is, the host decides. */
export interface AgentRequest {
  system: string;
  messages: AgentMessage[];
}

/** What comes back. */
export interface AgentAnswer {
  text: string;
  usage: { inputTokens: number | null; outputTokens: number | null };
  /** `provider/model`. */
  model: string;
  /** `length` when the answer was cut off. */
  finishReason?: string;
}

/** Tells the host how far the agent is, and which program it is about to run. Attempts count from 1. */
export type AttemptEvent =
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'asking' }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'running'; code: string };

/** All that the agent can do. */
export interface AgentPorts {
  /** Asks the model through the broker; rejects when it gives no answer. */
  askModel(request: AgentRequest): Promise<AgentAnswer>;
  /** Runs one program in an executor. A failing program is an outcome, not a rejection. */
  runCode(code: string, files: readonly ProgramFile[]): Promise<RunOutcome>;
  /** Gets what the model asks for in place of a program, and says what came of it. */
  serveRequest?(request: string): Promise<string>;
  event(event: AttemptEvent): void;
  /** Told of each attempt as soon as it is judged, so that it is known when a later one is cut off. */
  attempted?(attempt: CodegenAttempt): void;
  /** Aborted when the job is over. */
  signal: AbortSignal;
}
