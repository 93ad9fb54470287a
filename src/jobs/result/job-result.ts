import type { ModelBudget } from '../../models/model-budget.ts';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { errorEntry, type ErrorCode } from '../../contracts/errors/error-registry.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import type {
  CallRow,
  CallTotal,
  JobResult,
  OmittedFile,
  OutputText,
  ProgramError,
  ResultSkills,
} from '../../contracts/jobs/result.ts';
import type { SessionResult, SessionRun } from '../../contracts/jobs/session.ts';
import { NO_USAGE, type SandboxUsage } from '../../contracts/jobs/usage.ts';
import type { InstalledPackage } from '../../contracts/network/job-packages.ts';
import type { ResultNetwork } from '../../contracts/network/result-network.ts';
import type { SandboxResult } from '../../protocol/messages/messages.ts';
import type { CellResult } from '../../protocol/messages/session-messages.ts';
import { type MissingOutput, missingError, missingOutputs } from '../../protocol/messages/missing-outputs.ts';
import type { ArtifactCollector } from './receive-artifacts.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';
import type { AcceptedJob } from './accepted-job.ts';

/** Outcome of a job or a run, and its reason. */
export type Verdict = Pick<JobResult, 'outcome'> & Partial<Pick<JobResult, 'limit' | 'error'>>;

/** The runs of a job, as its result shows them. */
export interface RunsReport {
  readonly rows: CallRow[];
  readonly totals: Record<string, CallTotal>;
  readonly exhausted: string | undefined;
  readonly modelFailure: Error | undefined;
  output(stream: 'stdout' | 'stderr', bytes: number): OutputText;
}

/** A job that had a sandbox. */
export interface RanJob {
  /** Report of the sandbox, hostile until judged here. */
  said: SandboxResult;
  runs: RunsReport;
  artifacts: ArtifactCollector;
  /** Skills that arrived in the sandbox. */
  skills: ResultSkills | undefined;
  sandbox: SandboxSession;
  /** The kernel's counters, where the runner has them. */
  counted: SandboxUsage | undefined;
  budget: ModelBudget;
  warm: boolean;
  diagnostics: Diagnostic[];
  wallMs: number;
  network?: ResultNetwork | undefined;
  packages?: InstalledPackage[] | undefined;
}

/** A job at its end, with all known facts. */
export type EndedJob = {
  accepted: AcceptedJob;
  /** Absent if only the journal knows the job, or it ended while it was prepared. */
  job?: PreparedJob | undefined;
  diagnostics?: Diagnostic[];
} & ({ ran: RanJob } | { ended: UnstartedEnding });

/** Ending of a job without a sandbox: it needed none, or got none. */
export type UnstartedEnding = Verdict & Partial<Pick<JobResult, 'stdout' | 'value' | 'skills' | 'sources'>>;

const NO_OUTPUT: OutputText = { text: '', bytes: 0, truncated: false };
const NO_SKILLS: ResultSkills = { active: [], digest: null, instructionSha256: null };

/**
 * Makes the result of a job with any ending: finished, canceled, lost or never started. A job without a sandbox has no runner and no
 * isolation level in its result.
 */
export function jobResult(state: EndedJob): JobResult {
  const { accepted, job, diagnostics = [] } = state;
  const [ran, ended] = 'ran' in state ? [state.ran] : [undefined, state.ended];
  const said = ran?.said;
  const told = said ?? ended;
  const omitted = [...(said?.omitted ?? []), ...(ran?.artifacts.omitted ?? [])];
  const missing = missingOf(job, ran, omitted);
  // The counters of the kernel, or the sandbox's own where the runner has none.
  const counted = ran === undefined ? NO_USAGE : (ran.counted ?? ran.said.usage ?? NO_USAGE);
  const { outcome, limit, error } = 'ran' in state ? keptContract(judge(state.ran, counted), missing) : state.ended;
  return {
    jobId: accepted.jobId,
    kind: accepted.kind,
    runner: ran?.sandbox.sandbox.runner ?? null,
    isolation: ran?.sandbox.sandbox.isolation ?? null,
    ...(ran?.sandbox.sandbox.worker === undefined ? {} : { worker: ran.sandbox.sandbox.worker }),
    attempt: accepted.attempt,
    outcome,
    ...(limit === undefined ? {} : { limit }),
    exitCode: said?.exitCode ?? null,
    signal: said?.signal ?? null,
    stdout: ran?.runs.output('stdout', ran.said.stdoutBytes) ?? ended?.stdout ?? NO_OUTPUT,
    stderr: ran?.runs.output('stderr', ran.said.stderrBytes) ?? NO_OUTPUT,
    ...(told !== undefined && 'value' in told ? { value: told.value } : {}),
    ...(error === undefined ? {} : { error }),
    artifacts: ran?.artifacts.artifacts ?? [],
    omitted,
    ...contractOf(job, said, missing),
    calls: ran?.runs.rows ?? [],
    callTotals: ran?.runs.totals ?? {},
    ...(ran?.network === undefined ? {} : { network: ran.network }),
    ...(ran?.packages === undefined ? {} : { packages: ran.packages }),
    skills: ran === undefined ? (ended?.skills ?? NO_SKILLS) : withLoadedSkills(ran.skills ?? NO_SKILLS, job),
    ...(job?.match === undefined ? {} : { match: job.match }),
    sources: sourcesOf(state),
    usage: usageOf(ran, counted),
    diagnostics: [
      ...(job?.diagnostics ?? []),
      ...(ran === undefined ? [] : [...ran.diagnostics, ...ran.sandbox.sandbox.diagnostics, ...ran.said.diagnostics]),
      ...diagnostics,
    ],
    ...(accepted.kind === 'codegen' && job !== undefined ? { codegen: { attempts: said?.attempts ?? [] } } : {}),
  };
}

/** The result of a job that we failed: its host died (`job.host-lost`) or had an error. Nothing is known of its program. */
export function lostResult(accepted: AcceptedJob, code: ErrorCode = 'job.host-lost', message?: string): JobResult {
  const text = message ?? errorEntry(code).advice;
  const ended: Verdict = { outcome: 'failed', error: { name: code, message: text, stack: '' } };
  return jobResult({ accepted, ended, diagnostics: [{ code, severity: 'error', message: text }] });
}

/** Adds the reasons to the result of a canceled job: the first as its error, later reasons as diagnostics. */
export function withReasons(result: JobResult, reasons: readonly string[]): JobResult {
  if (result.outcome !== 'canceled') return result;
  const [first = 'no reason was given', ...later] = reasons;
  const again = later.map((reason) => diagnostic('job.canceled-again', `The job was canceled once more: ${reason}`));
  const error: ProgramError = { name: 'Canceled', message: first, stack: '' };
  return { ...result, error, diagnostics: [...result.diagnostics, ...again] };
}

/** The result of a job that was canceled before it ran to an end. */
export function canceledResult(accepted: AcceptedJob, reason: string): JobResult {
  return withReasons(jobResult({ accepted, ended: { outcome: 'canceled' } }), [reason]);
}

/** A run of a session at its end. */
export interface EndedRun {
  cell: CellResult;
  results: SessionResult[];
  output(stream: 'stdout' | 'stderr', bytes: number): OutputText;
  calls: CallRow[];
  /** The exceeded budget of calls. */
  exhausted: string | undefined;
  network?: ResultNetwork | undefined;
}

/** Makes the result of a run of a session. */
export function runResult({ cell, results, output, calls, exhausted, network }: EndedRun): SessionRun {
  const { run, epoch, state, outcome, limit, exitCode, signal, stdoutBytes, stderrBytes, diagnostics, runMs } = cell;
  const error =
    outcome === 'limit' && limit === 'calls' && exhausted !== undefined ? overBudget(exhausted) : cell.error;
  return {
    run,
    epoch,
    state,
    outcome,
    ...(limit === undefined ? {} : { limit }),
    exitCode,
    signal,
    ...('value' in cell ? { value: cell.value } : {}),
    results,
    stdout: output('stdout', stdoutBytes),
    stderr: output('stderr', stderrBytes),
    ...(error === undefined ? {} : { error }),
    calls,
    ...(network === undefined ? {} : { network }),
    diagnostics,
    wallMs: round(runMs),
  };
}

/** The result of a run without a report from its sandbox: given up before its turn (`kept`), or ended with the sandbox (`lost`). */
export function unreportedRun(
  { run, epoch, state }: Pick<SessionRun, 'run' | 'epoch' | 'state'>,
  outcome: 'canceled' | 'timeout',
  ended: Partial<EndedRun> & { wallMs?: number } = {},
): SessionRun {
  const cell: CellResult = {
    ...{ run, epoch, state, outcome, exitCode: null, signal: null, stdoutBytes: 0, stderrBytes: 0, diagnostics: [] },
    runMs: ended.wallMs ?? 0,
  };
  return runResult({ results: [], output: () => NO_OUTPUT, calls: [], exhausted: undefined, ...ended, cell });
}

/** Declared outputs that did not arrive as artifacts. */
function missingOf(
  job: PreparedJob | undefined,
  ran: RanJob | undefined,
  omitted: readonly OmittedFile[],
): MissingOutput[] {
  if (job === undefined) return [];
  const { expect, codegen } = job.globals.JOB;
  if (ran === undefined) return expect.map((path) => ({ path }));
  // A dry run makes no files, so none are missing.
  const expected = codegen?.dryRun === true ? [] : expect;
  return missingOutputs(expected, new Set(ran.artifacts.artifacts.map(({ path }) => path)), { omitted: [...omitted] });
}

/** The contract, if the job must deliver files, a value, or both. */
function contractOf(
  job: PreparedJob | undefined,
  said: SandboxResult | undefined,
  missing: readonly MissingOutput[],
): Pick<JobResult, 'contract'> {
  if (job === undefined) return {};
  const { expect, codegen } = job.globals.JOB;
  const isDry = said !== undefined && codegen?.dryRun === true;
  const valued = job.valueSchema !== undefined && !isDry;
  if ((isDry || expect.length === 0) && !valued) return {};
  // The value of a job that did not succeed does not count.
  const satisfied = said !== undefined && missing.length === 0 && (!valued || said.outcome === 'succeeded');
  return { contract: { satisfied, missing: missing.map(({ path }) => path) } };
}

function withLoadedSkills(arrived: ResultSkills, job: PreparedJob | undefined): ResultSkills {
  return { ...arrived, active: [...new Set([...arrived.active, ...(job?.disclosure?.active ?? [])])] };
}

/** A skill that was loaded by a call of the job added its sources to the pool that the sandbox knows. */
function sourcesOf(state: EndedJob): SourceRow[] {
  const { job } = state;
  if (!('ran' in state)) return state.ended.sources ?? job?.globals.SOURCES_POOL ?? [];
  const pool = state.ran.said.sources;
  const known = new Set(pool.map(({ sid }) => sid));
  return [...pool, ...(job?.disclosure?.pool ?? []).filter(({ sid }) => !known.has(sid))];
}

function usageOf(ran: RanJob | undefined, { cpuMs, maxRssBytes }: SandboxUsage): JobResult['usage'] {
  if (ran === undefined) return { wallMs: null, cpuMs: null, maxRssBytes: null, startMs: null, warm: false };
  const { wallMs, sandbox, warm } = ran;
  return { wallMs: round(wallMs), cpuMs: rounded(cpuMs), maxRssBytes, startMs: rounded(sandbox.startMs), warm };
}

/** The verdict. Facts that only the host knows take precedence over the sandbox's report. */
function judge({ said, runs, budget }: RanJob, { pidsRefused }: SandboxUsage): Verdict {
  const { outcome, limit, error } = said;
  const { modelFailure, exhausted } = runs;
  if (modelFailure?.name === 'ModelTimeout')
    return { outcome: 'timeout', error: { name: 'ModelTimeout', message: modelFailure.message, stack: '' } };
  if (outcome === 'failed' && budget.reached !== undefined) {
    const { name, message, limit: reached } = budget.reached;
    return { outcome: 'limit', limit: reached, error: { name, message, stack: '' } };
  }
  if (limit === 'calls' && error === undefined && exhausted !== undefined)
    return { outcome, limit, error: overBudget(exhausted) };
  const given = error === undefined ? {} : { error };
  if (outcome === 'failed' && (pidsRefused ?? 0) > 0) return { outcome: 'limit', limit: 'pids', ...given };
  return { outcome, ...(limit === undefined ? {} : { limit }), ...given };
}

function overBudget(message: string): ProgramError {
  return { name: 'BudgetReached', message, stack: '' };
}

/** A program that succeeded without delivering its declared outputs has failed. */
function keptContract(verdict: Verdict, missing: readonly MissingOutput[]): Verdict {
  if (verdict.outcome !== 'succeeded' || missing.length === 0) return verdict;
  return { outcome: 'failed', error: missingError(missing) };
}

function rounded(value: number | null): number | null {
  return value === null ? null : round(value);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
