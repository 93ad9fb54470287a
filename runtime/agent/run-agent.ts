import { createHash } from 'node:crypto';
import { programFileName } from '../../src/contracts/jobs/language.ts';
import type { CodegenAttempt, Outcome } from '../../src/contracts/jobs/result.ts';
import { canonicalJson } from '../../src/skills/text/canonical-json.ts';
import { emptyRun, type RunOutcome } from '../run/run-outcome.ts';
import type { AgentAnswer, AgentPorts, AgentRequest } from './agent-ports.ts';
import { buildPrompt, type Prompt, type PromptInput } from './build-prompt.ts';
import { extractCode, type ExtractedCode } from './extract-code.ts';
import { readRequest } from './read-request.ts';
import { faultMessage, repairMessage, type PathAlias } from './repair-message.ts';

/** Input of the agent for a codegen job. */
export interface AgentInput extends PromptInput {
  maxAttempts: number;
  /** Build the prompt only: ask no model and run nothing. */
  dryRun: boolean;
  /** Folders of the sandbox whose real path differs between machines; the model never reads the real path. */
  pathAliases?: readonly PathAlias[];
}

/** Result of the agent. */
export interface AgentResult {
  attempts: CodegenAttempt[];
  /** The last run. For an answer without a program its `error.name` is `CodegenError`. Absent in a dry run. */
  last?: RunOutcome;
  prompt: Prompt;
}

/**
 * Lets the model write a program, runs it, and lets the model repair it until it succeeds with all its outputs or no attempt is left.
 *
 * @param input task, skills and number of attempts
 * @param ports model and executor
 * @returns the attempts and the last run
 * @throws the rejection of `askModel`, or the signal's reason once it is aborted
 */
export async function runAgent(input: AgentInput, ports: AgentPorts): Promise<AgentResult> {
  const { maxAttempts } = input;
  const prompt = buildPrompt(input);
  const attempts: CodegenAttempt[] = [];
  const judged = (attempt: CodegenAttempt): void => {
    attempts.push(attempt);
    ports.attempted?.(attempt);
  };
  if (input.dryRun) return { attempts, prompt };

  const request: AgentRequest = { system: prompt.system, messages: [{ role: 'user', content: prompt.user }] };
  const goOn = ({ text }: AgentAnswer, reply: string): void => {
    // Model services refuse messages without text.
    const said = text.trim() === '' ? '(no text)' : text;
    request.messages.push({ role: 'assistant', content: said }, { role: 'user', content: reply });
  };
  let requestsLeft = ports.serveRequest === undefined ? 0 : (input.requests ?? 0);
  for (let attempt = 1; ; attempt += 1) {
    ports.signal.throwIfAborted();
    ports.event({ type: 'attempt', attempt, maxAttempts, phase: 'asking' });
    const promptSha256 = digestOf(request);
    const answer = await ports.askModel(structuredClone(request));
    const asked = readRequest(answer.text);
    if (asked !== undefined && requestsLeft > 0 && ports.serveRequest !== undefined) {
      requestsLeft -= 1;
      goOn(answer, `${await ports.serveRequest(asked)}\n\n${whatNext(requestsLeft)}\n`);
      // A request does not count as an attempt.
      attempt -= 1;
      continue;
    }
    const { model, usage } = answer;
    const extracted = asked === undefined ? programOf(answer, input) : { fault: whatNext(0) };
    const row = { model, promptSha256, usage };

    let last: RunOutcome;
    let reply: string;
    if ('fault' in extracted) {
      last = withoutRun(extracted.fault, input.expect);
      reply = faultMessage(extracted.fault);
      judged({ ...row, code: '', outcome: 'failed' });
    } else {
      ports.signal.throwIfAborted();
      ports.event({ type: 'attempt', attempt, maxAttempts, phase: 'running', code: extracted.code });
      last = await ports.runCode(extracted.code, extracted.files);
      reply = repairMessage(last, input.pathAliases);
      const { code, files } = extracted;
      judged({ ...row, code, ...(files.length === 0 ? {} : { files }), outcome: outcomeOf(last) });
    }
    if (attempt >= maxAttempts || !repairable(last)) return { attempts, last, prompt };
    goOn(answer, reply);
  }
}

function whatNext(requestsLeft: number): string {
  if (requestsLeft === 0) return 'There is no request left. Give the program.';
  return 'Now give the program, or ask for what is still missing.';
}

/** A block without its closing fence is complete unless the model reports that its answer was cut off. */
function programOf(answer: AgentAnswer, { language, files }: AgentInput): ExtractedCode {
  const taken = [...files.map(({ path }) => path), programFileName(language)];
  const extracted = extractCode(answer.text, language, taken);
  const whole = answer.finishReason !== 'length' || ('closed' in extracted && extracted.closed);
  return whole ? extracted : { fault: 'The answer was cut off at its greatest length. Give a shorter program, whole.' };
}

/** A program with missing outputs has failed, whatever its exit code. */
function outcomeOf({ outcome, missing }: RunOutcome): Outcome {
  return outcome === 'succeeded' && missing.length > 0 ? 'failed' : outcome;
}

/** These limits apply to the whole job: once one is used up, no further run can succeed. */
const OF_JOB: ReadonlySet<unknown> = new Set(['calls', 'network', 'output']);

function repairable(run: RunOutcome): boolean {
  const outcome = outcomeOf(run);
  if (outcome === 'succeeded' || outcome === 'canceled') return false;
  return outcome !== 'limit' || !OF_JOB.has(run.limit);
}

function digestOf({ system, messages }: AgentRequest): string {
  return createHash('sha256').update(canonicalJson({ system, messages })).digest('hex');
}

function withoutRun(fault: string, expect: readonly string[]): RunOutcome {
  return { ...emptyRun(expect), error: { name: 'CodegenError', message: fault, stack: '' } };
}
