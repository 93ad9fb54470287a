import { createCallTally } from '../../tools/calls/call-tally.ts';
import { TOOL_JSON_BYTES } from '../../tools/calls/broker-call.ts';
import { createModelBudget } from '../../models/model-budget.ts';
import { type Tool, TOOL_VALUE_BYTES } from '../../tools/define/tool.ts';
import { ToolCallError } from '../../tools/define/tool-errors.ts';
import { plainMessage } from '../../tools/define/outside-text.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ToolCallCode } from '../../contracts/errors/tool-call-codes.ts';
import { detachBytes, ValueFault } from '../../protocol/messages/value-bytes.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { BackgroundWork } from '../supply/background-work.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { createProgramRuns } from '../run/program-runs.ts';
import { runJob } from '../run/run-job.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';
import type { SandboxSupply } from '../supply/sandbox-supply.ts';
import { NO_SPAN } from '../tracing/trace-span.ts';
import { type DescribedTool, readDescriptions } from './described-tools.ts';

/** The next order for a driver: a call, the cancellation of a call, or null for no order yet. */
type Order = { call: { id: number; tool: string; args: unknown } } | { cancel: number } | null;

/** Queue of orders for one driver, which asks for them one at a time. */
interface SkillOrders {
  put(order: Order): void;
  /** Resolves with the next order; with null if another call of `next` takes over, or the signal is aborted. */
  next(signal: AbortSignal): Promise<Order>;
}

/** Time for code to load and to describe its tools. */
const DESCRIBE_MS = 30_000;
/** The request for an order has no deadline of its own: the maximum of a Node timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** Shared by all sandboxes with skill code of one orchestrator. */
export interface SkillSandboxes {
  supply: SandboxSupply;
  /** Ends of sandboxes, in the background. */
  leaving: BackgroundWork;
  /** Prepares the job of a driver. */
  prepare(driver: DriverJob): Promise<PreparedJob>;
}

/** The code of one skill, for one job. */
export interface DriverJob {
  skill: string;
  tree: SkillTree;
  language: 'javascript' | 'python';
  /** Argument of the driver, as JSON. */
  spec: string;
  tools: readonly Tool[];
}

/** The code of one skill in a sandbox of its own. */
export interface SkillSandbox {
  /** Descriptions of the tools. Rejects with a SkillcellError if the code cannot be loaded. */
  readonly described: Promise<DescribedTool[]>;
  /**
   * Makes one call.
   *
   * @throws ToolCallError with a message for the calling program
   */
  call(tool: string, input: unknown, signal: AbortSignal): Promise<unknown>;
  /** Whether the sandbox was ended because a call took too long: the next call needs a new sandbox. */
  readonly hung: boolean;
  /** Kills the sandbox. Idempotent. */
  close(): void;
}

/** Host-side state of one driver. */
interface Driver {
  skill: string;
  orders: SkillOrders;
  described: PromiseWithResolvers<DescribedTool[]>;
  /** Calls without an answer yet, by id. */
  waiting: Map<number, PromiseWithResolvers<unknown>>;
}

/** Starts a sandbox and loads the code of a skill in it. */
export function startSkillSandbox(sandboxes: SkillSandboxes, job: Omit<DriverJob, 'tools'>): SkillSandbox {
  const { skill } = job;
  const driver: Driver = {
    skill,
    orders: createSkillOrders(),
    described: Promise.withResolvers(),
    waiting: new Map(),
  };
  const { orders, described, waiting } = driver;
  described.promise.catch(() => undefined);
  const over = new AbortController();
  let ended: { reason: string } | undefined;
  let hung = false;
  let lastId = 0;

  const end = (error: unknown): void => {
    const { reason } = (ended ??= {
      reason: SkillcellError.isInstance(error) ? error.message : plainMessage((error as Error).message),
    });
    described.reject(SkillcellError.isInstance(error) ? error : loadFailure(skill, reason));
    for (const { reject } of waiting.values()) reject(skillCodeFailure(skill, reason));
    waiting.clear();
  };
  /** An overdue call may be a loop that cannot receive a cancellation, so the whole sandbox ends. */
  const endHung = (tool: string): void => {
    hung = true;
    const error = new Error(`its tool ${tool} took too long`);
    end(error);
    over.abort(error);
  };
  void serve(sandboxes, { ...job, tools: driverTools(driver) }, over.signal).catch(end);

  const loaded = withinDeadline(described.promise, {
    limitMs: DESCRIBE_MS,
    overdue(): never {
      close();
      throw loadFailure(skill, `it did not load within ${DESCRIBE_MS / 1000} s`);
    },
  });
  loaded.catch(() => undefined);

  const close = (): void => over.abort(new Error('its job is over'));
  return {
    described: loaded,
    async call(tool, input, signal) {
      await withinDeadline(loaded, { signal }).catch((error: unknown) => {
        throw signal.aborted ? signal.reason : skillCodeFailure(skill, plainMessage((error as Error).message));
      });
      if (ended !== undefined) throw skillCodeFailure(skill, ended.reason);
      const id = (lastId += 1);
      const order = { call: { id, tool, args: input ?? null } };
      requireSendable(order);
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      orders.put(order);
      try {
        return await withinDeadline(answer.promise, { signal });
      } finally {
        const isOpen = waiting.delete(id);
        if (isOpen && isOverdue(signal)) endHung(tool);
        else if (isOpen) orders.put({ cancel: id });
      }
    },
    get hung() {
      return hung;
    },
    close,
  };
}

function isOverdue({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as Error).name === 'TimeoutError';
}

/** Runs the driver like any job, but without a place in the queue. Always rejects: the error says why calls fail from then on. */
async function serve(sandboxes: SkillSandboxes, driver: DriverJob, signal: AbortSignal): Promise<never> {
  const { supply, leaving } = sandboxes;
  const job = await sandboxes.prepare(driver);
  const { request, language, limits } = job;
  const demand = { runner: request.runner ?? ('auto' as const), isolation: request.isolation, language, limits };
  const { session, warm } = await supply.take(demand, signal);
  // Kill at once: the program is not asked to end first.
  const kill = (): void => leaving.add(session.sandbox.kill('its job is over'));
  signal.addEventListener('abort', kill, { once: true });
  try {
    if (signal.aborted) kill();
    throw new Error(endOf(await runDriver(job, session, warm, signal)));
  } finally {
    kill();
  }
}

async function runDriver(
  job: PreparedJob,
  session: SandboxSession,
  warm: boolean,
  signal: AbortSignal,
): Promise<JobResult> {
  const budget = createModelBudget(undefined);
  const { result } = await runJob(
    job,
    session,
    createProgramRuns({ model: undefined, tally: createCallTally(), budget }),
    {
      attempt: 1,
      signal,
      emit: () => Promise.resolve(),
      approve: undefined,
      budget,
      warm,
      diagnostics: [],
      // Not a job of a caller: the call of the job that it serves has a span already.
      span: NO_SPAN,
      onToolFailure: () => undefined,
      withSkills: (fn) => fn(),
    },
  );
  return result;
}

/** The only tools of a driver: it asks for orders, and sends answers. */
function driverTools(driver: Driver): Tool[] {
  return [
    {
      id: 'skill-code.next',
      description: 'Takes an answer, if there is one, and gives the next order.',
      effect: 'read',
      timeoutMs: LONGEST_MS,
      execute(input, { signal }) {
        // An answer may come with the request for the next order.
        takeAnswer(driver, (input as { answer?: unknown } | null)?.answer);
        return driver.orders.next(signal);
      },
    },
    {
      id: 'skill-code.answer',
      description: 'Takes an answer.',
      effect: 'read',
      async execute(input) {
        takeAnswer(driver, input);
        return null;
      },
    },
  ];
}

/** Takes an answer of a driver. It is hostile: the skill's code may have taken over the sandbox. */
function takeAnswer({ skill, described, waiting }: Driver, input: unknown): void {
  if (typeof input !== 'object' || input === null) return;
  const answer = input as Record<string, unknown>;
  const { id, error } = answer;
  if (id === 0) {
    try {
      if (error !== undefined) throw loadError(skill, answer);
      described.resolve(readDescriptions(skill, answer['tools']));
    } catch (fault) {
      described.reject(fault);
    }
    return;
  }
  const call = waiting.get(id as number);
  if (call === undefined) return;
  waiting.delete(id as number);
  if (error === undefined) return call.resolve(answer['value'] ?? null);
  call.reject(callFailure(skill, plainMessage(error), answer));
}

/** The error of a failed call: its arguments, its result, or the skill's code is at fault. */
function callFailure(skill: string, message: string, answer: Record<string, unknown>): ToolCallError {
  if (answer['arguments'] === true)
    return new ToolCallError('tool.invalid-arguments', `The arguments do not fit: ${message}.`);
  const unsent = UNSENT.get(answer['code']);
  if (unsent === undefined) return skillCodeFailure(skill, message);
  return new ToolCallError(unsent, `The result of the code of ${skill} cannot be sent: ${message.replace(/\.$/, '')}.`);
}

/** Codes of an answer that cannot be sent: the code in the driver, and the code for the caller. */
const UNSENT: ReadonlyMap<unknown, ToolCallCode> = new Map([
  ['tool.too-large', 'tool.too-large'],
  ['tool.invalid-arguments', 'tool.invalid-result'],
]);

function loadError(skill: string, { error, missing, code }: Record<string, unknown>): SkillcellError {
  if (Array.isArray(missing) && missing.length > 0) return dependencyMissing(skill, missing);
  const message = plainMessage(error);
  return loadFailure(skill, UNSENT.has(code) ? `the descriptions of its tools cannot be sent: ${message}` : message);
}

/** The error of code with missing modules. */
export function dependencyMissing(skill: string, names: unknown): SkillcellError {
  const shown = (names as unknown[]).slice(0, 20).map((name) => JSON.stringify(plainMessage(name)));
  const message = `Cannot load the code of ${skill}: modules that it depends on are missing, got ${shown.join(', ')}.`;
  return new SkillcellError('skill-code.dependency-missing', message);
}

/** The error of code that cannot be loaded. `reason` must be safe to show. */
export function loadFailure(skill: string, reason: string): SkillcellError {
  return new SkillcellError(
    'skill-code.load-failed',
    `Cannot load the code of ${skill}: ${reason.replace(/\.$/, '')}.`,
  );
}

/** The error of a call that failed in the skill's code. `reason` must be safe to show. */
export function skillCodeFailure(skill: string, reason: string): ToolCallError {
  return new ToolCallError('skill-code.failed', `The code of ${skill} failed: ${reason.replace(/\.$/, '')}.`);
}

/** An order travels as the result of a tool. Arguments that do not fit there are an error for the caller, not for the driver. */
function requireSendable(order: object): void {
  try {
    detachBytes(order, { jsonBytes: TOOL_JSON_BYTES, partBytes: TOOL_VALUE_BYTES });
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    const code = error.isTooLarge ? 'tool.too-large' : 'tool.invalid-arguments';
    throw new ToolCallError(code, `The arguments are not acceptable: ${error.message}.`);
  }
}

/** The reason why a driver ended by itself. It serves until it is killed, so every such end is a failure. */
function endOf({ outcome, limit, exitCode, signal, stderr }: JobResult): string {
  if (outcome === 'out_of_memory') return 'it ran out of memory';
  if (outcome === 'limit') return `it went over its limit of ${limit ?? 'something'}`;
  if (outcome === 'canceled') return 'its job is over';
  const lines = stderr.text.trim().split('\n');
  const last = lines.findLast((line) => /Error\b/.test(line)) ?? lines.at(-1) ?? '';
  const how =
    signal === null ? `its process ended with code ${exitCode ?? 'unknown'}` : `its process was ended by ${signal}`;
  return last === '' ? how : `${how} (${last.slice(0, 200)})`;
}

/** Creates an empty queue of orders. */
function createSkillOrders(): SkillOrders {
  const waiting: Order[] = [];
  let take: ((order: Order) => void) | undefined;
  return {
    put(order) {
      if (take === undefined) waiting.push(order);
      else take(order);
    },
    next(signal) {
      take?.(null);
      const first = waiting.shift();
      if (first !== undefined) return Promise.resolve(first);
      return new Promise((resolve) => {
        const give = (order: Order): void => {
          if (take === give) take = undefined;
          signal.removeEventListener('abort', leave);
          resolve(order);
        };
        const leave = (): void => give(null);
        take = give;
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
