import type { Broker } from '../../tools/calls/broker.ts';
import type { ModelBudget } from '../../models/model-budget.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import type { JobResult, ResultSkills } from '../../contracts/jobs/result.ts';
import { NO_USAGE } from '../../contracts/jobs/usage.ts';
import type { SandboxResult } from '../../protocol/messages/messages.ts';
import { type MissingOutput, missingError, missingOutputs } from '../../protocol/messages/missing-outputs.ts';
import type { Sandbox } from '../../sandboxes/runner.ts';
import type { ArtifactCollector } from './receive-artifacts.ts';
import type { OutputCollector } from '../events/receive-output.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';

/** All that a result is made of. */
export interface ResultParts {
  job: PreparedJob;
  result: SandboxResult;
  output: OutputCollector;
  artifacts: ArtifactCollector;
  skills: ResultSkills | undefined;
  broker: Broker;
  /** The calls of the job; those of a session are its runs'. */
  calls: Pick<Broker, 'rows' | 'totals'>;
  sandbox: Sandbox;
  options: { warm: boolean; attempt: number; diagnostics: Diagnostic[]; budget: ModelBudget };
  wallMs: number;
  startMs: number | null;
}

/** Puts the sandbox's report together with what only the host knows: the kernel's counters, calls, files. */
export function assembleResult(parts: ResultParts): JobResult {
  const { job, result, artifacts, calls, sandbox, options } = parts;
  const usage = sandbox.usage?.() ?? result.usage ?? NO_USAGE;
  const omitted = [...result.omitted, ...artifacts.omitted];
  const { expect, codegen } = job.globals.JOB;
  // A dry run makes nothing, and so it promises nothing.
  const expected = codegen?.dryRun === true ? [] : expect;
  // An output counts once it is delivered, whatever the sandbox had.
  const missing = missingOutputs(expected, new Set(artifacts.artifacts.map(({ path }) => path)), { omitted });
  const verdict = keptContract(judge(result, usage.pidsRefused ?? 0, parts), missing);
  return {
    jobId: job.jobId,
    kind: job.kind,
    runner: sandbox.runner,
    isolation: sandbox.isolation,
    attempt: options.attempt,
    outcome: verdict.outcome,
    ...(verdict.limit === undefined ? {} : { limit: verdict.limit }),
    exitCode: result.exitCode,
    signal: result.signal,
    stdout: parts.output.text('stdout', result.stdoutBytes),
    stderr: parts.output.text('stderr', result.stderrBytes),
    ...('value' in result ? { value: result.value } : {}),
    ...(verdict.error === undefined ? {} : { error: verdict.error }),
    artifacts: artifacts.artifacts,
    omitted,
    ...contractOf(parts, expected, missing),
    calls: calls.rows,
    callTotals: calls.totals,
    skills: withLoadedSkills(parts.skills ?? NO_SKILLS, job),
    ...(job.match === undefined ? {} : { match: job.match }),
    sources: withLoadedSources(result.sources, job),
    usage: {
      wallMs: round(parts.wallMs),
      cpuMs: round(usage.cpuMs),
      maxRssBytes: usage.maxRssBytes,
      startMs: round(parts.startMs),
      warm: options.warm,
    },
    diagnostics: [...job.diagnostics, ...options.diagnostics, ...sandbox.diagnostics, ...result.diagnostics],
    ...(job.kind === 'codegen' ? { codegen: { attempts: result.attempts ?? [] } } : {}),
  };
}

/** Of a job that has to leave something: files, a value, or both. */
function contractOf(
  { job, result }: ResultParts,
  expected: readonly string[],
  missing: readonly MissingOutput[],
): Pick<JobResult, 'contract'> {
  const valued = job.valueSchema !== undefined && job.globals.JOB.codegen?.dryRun !== true;
  if (expected.length === 0 && !valued) return {};
  // Whatever else failed: the value of a job that did not succeed is nobody's to use.
  const satisfied = missing.length === 0 && (!valued || result.outcome === 'succeeded');
  return { contract: { satisfied, missing: missing.map(({ path }) => path) } };
}

const NO_SKILLS: ResultSkills = { active: [], digest: null, instructionSha256: null };

function withLoadedSkills(arrived: ResultSkills, { disclosure }: PreparedJob): ResultSkills {
  return { ...arrived, active: [...new Set([...arrived.active, ...(disclosure?.active ?? [])])] };
}

/** A skill that was loaded by a call while the job ran has added its sources to the pool that the sandbox knows. */
function withLoadedSources(pool: readonly SourceRow[], { disclosure }: PreparedJob): SourceRow[] {
  const known = new Set(pool.map(({ sid }) => sid));
  return [...pool, ...(disclosure?.pool ?? []).filter(({ sid }) => !known.has(sid))];
}

type Verdict = Pick<SandboxResult, 'outcome' | 'limit' | 'error'>;

/** What only the host knows goes before the program's exit code. */
function judge(
  { outcome, limit, error }: SandboxResult,
  pidsRefused: number,
  { broker, options: { budget } }: Pick<ResultParts, 'broker' | 'options'>,
): Verdict {
  const timeout = broker.modelFailure;
  if (timeout?.name === 'ModelTimeout') {
    return { outcome: 'timeout', error: { name: 'ModelTimeout', message: timeout.message, stack: '' } };
  }
  if (outcome === 'failed' && budget.reached !== undefined) {
    const { name, message, limit: reached } = budget.reached;
    return { outcome: 'limit', limit: reached, error: { name, message, stack: '' } };
  }
  if (limit === 'calls' && error === undefined && broker.exhausted !== undefined) {
    return { outcome, limit, error: { name: 'BudgetReached', message: broker.exhausted, stack: '' } };
  }
  if (outcome === 'failed' && pidsRefused > 0)
    return { outcome: 'limit', limit: 'pids', ...(error === undefined ? {} : { error }) };
  return { outcome, ...(limit === undefined ? {} : { limit }), ...(error === undefined ? {} : { error }) };
}

/** What did well, and did not deliver what it had to, has failed. */
function keptContract(verdict: Verdict, missing: readonly MissingOutput[]): Verdict {
  if (verdict.outcome !== 'succeeded' || missing.length === 0) return verdict;
  return { outcome: 'failed', error: missingError(missing) };
}

function round(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
