import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve } from './approval.ts';
import { sanitizeErrorText } from '../../models/redact.ts';

/** Asks for the approvals of one job. The clocks of the job stand still while a question is open. */
export interface ApprovalGate {
  /** Resolves with undefined if the call is allowed, else with the reason for the program. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<string | undefined>;
}

/** Options of {@link createApprovalGate}. */
export interface ApprovalGateOptions {
  approve: Approve | undefined;
  /** Most time for which the clocks of the job may stand still, for all questions together, in milliseconds. */
  timeoutMs: number;
  secrets: readonly string[];
  /** Called when the first open question begins, and when the last one is answered. */
  onWaiting(waiting: boolean): void;
  /** Called for each question and each answer. */
  onEvent(event: { phase: 'asked' | 'allowed' | 'denied'; request: ApprovalRequest; reason?: string }): void;
  /** Gets errors of `approve`, for the host's log. */
  onFailure(error: unknown): void;
}

/** Creates the gate of one job. All tools that need approval, from all sources, use it. */
export function createApprovalGate(options: ApprovalGateOptions): ApprovalGate {
  const { approve, timeoutMs, secrets } = options;
  let open = 0;
  let since = 0;
  let stoodStill = 0;
  let isOver = false;

  const begin = (): void => {
    open += 1;
    if (open > 1) return;
    since = performance.now();
    options.onWaiting(true);
  };
  const end = (): void => {
    open -= 1;
    if (open > 0) return;
    stoodStill += performance.now() - since;
    options.onWaiting(false);
  };
  const leftMs = (): number => timeoutMs - stoodStill - (open > 0 ? performance.now() - since : 0);

  const decide = async (request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> => {
    if (approve === undefined) return { allow: false, reason: 'the host has no approve callback' };
    const limitMs = leftMs();
    const inTime = new AbortController();
    const unanswered = { allow: false, reason: 'there was no answer in time' };
    if (isOver || limitMs <= 0) return unanswered;
    const overdue = (): ApprovalAnswer => {
      isOver = true;
      return unanswered;
    };
    begin();
    try {
      const asked = approve(request, { signal: AbortSignal.any([signal, inTime.signal]) });
      const answer: unknown = await withinDeadline(asked, { limitMs, overdue, signal });
      const { allow, reason } = { ...(answer as Record<string, unknown> | undefined) };
      const told = typeof reason === 'string' ? sanitizeErrorText(reason, secrets) : undefined;
      return { allow: allow === true, reason: told };
    } catch (error) {
      if (!signal.aborted) options.onFailure(error);
      return { allow: false, reason: 'the approval could not be requested' };
    } finally {
      inTime.abort(new Error('The answer is no longer needed.'));
      end();
    }
  };

  return {
    async ask(request, signal) {
      options.onEvent({ phase: 'asked', request });
      const question = { ...request, input: copyOf(request.input) };
      const { allow, reason = 'no reason was given' } = await decide(question, signal);
      options.onEvent(allow ? { phase: 'allowed', request } : { phase: 'denied', request, reason });
      return allow ? undefined : reason;
    },
  };
}

/** A copy of the input, so that changes to the question do not reach the tool. Functions, which a schema may produce, cannot be copied. */
function copyOf(input: unknown): unknown {
  try {
    return structuredClone(input);
  } catch {
    return input;
  }
}
