import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ModelGateway } from '../../../models/model-gateway.ts';
import { DEFAULT_LANGUAGE } from '../../../contracts/jobs/language.ts';
import { DEFAULT_CONSUMER } from '../../../contracts/jobs/job.ts';
import type { Isolation } from '../../../contracts/jobs/result.ts';
import type { EvalRun, SkillEvalReport } from '../../../evals/eval-report.ts';
import { evalTable, triggerTable } from '../../../evals/report/eval-table.ts';
import { DEFAULT_EVAL_RUNS, evaluateSkill, MOST_EVAL_RUNS, MOST_SEED } from '../../../evals/evaluate-skill.ts';
import {
  judgeTriggers,
  parseTriggerQueries,
  TRIGGER_FILE_BYTES,
  type TriggerReport,
} from '../../../evals/report/judge-triggers.ts';
import type { EvalJobOptions } from '../../../evals/make-run.ts';
import { prepareEval } from '../../../evals/plan/prepare-eval.ts';
import { writeEvalFile, writeRun } from '../../../evals/write-eval-output.ts';
import { requireLoadable } from '../../../jobs/request/requested-skills.ts';
import type { SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import type { ConsumerOptions } from '../../../skills/subsystem.ts';
import { claimFolder } from '../../job/claim-folder.ts';
import { jobRunners } from '../../job/runners.ts';
import { budgetFromFlags } from '../../options/flags/budget-flags.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { consumerFromFlags } from '../../options/flags/consumer-flag.ts';
import { evalFolder } from '../../options/places/eval-folder.ts';
import { explainReference, jobSkills } from '../../options/skills/job-skills.ts';
import { noteLeftOut } from '../../options/skills/note-left-out.ts';
import { fleetOfJobs } from '../../options/flags/fleet-flags.ts';
import { limitsFromFlags } from '../../options/flags/limit-flags.ts';
import { modelFromFlags } from '../../options/flags/model-flags.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { readInputFile } from '../../terminal/input-file.ts';

/** Folder for paid-for runs, with a subfolder for each evaluation, unless `--out` names another. */
const KEPT = 'skillcell-out';
const RUNS = { minimum: 1, maximum: MOST_EVAL_RUNS, unit: 'runs' };
const SEEDS = { minimum: 0, maximum: MOST_SEED, unit: 'seeds' };
const ATTEMPTS = { minimum: 1, maximum: 20, unit: 'runs' };
/** Flags that ask for the evals. Without one of them, `--triggers` only judges queries. */
const ASKS_FOR_EVALS = ['model', 'replay', 'record', 'runs', 'aa', 'seed'];

/** `skillcell skills eval`: measures the effect of a skill, or how well its triggers choose. */
export async function runEval(context: CommandContext): Promise<number> {
  const { arguments: given, io } = context;
  const ref = given.operands[0] ?? '';
  const options = readFlags(context);
  // Checked before a model is asked; the runners are made later.
  fleetOfJobs(context);
  const triggers = flagValue(given, 'triggers');
  const queries =
    triggers === undefined
      ? undefined
      : parseTriggerQueries(readInputFile('--triggers', triggers, TRIGGER_FILE_BYTES, io), triggers);
  const isRun = queries === undefined || ASKS_FOR_EVALS.some((flag) => given.flags.has(flag));
  const skills = await jobSkills(context, true);
  try {
    await noteLeftOut(context, [ref], skills, options.who);
    // Faults of the evals are reported even without a model.
    if (isRun) await prepareEval(skills, ref, options.who, options.job.language, notYet);
    const model = isRun ? await modelFromFlags(context, 'needed') : undefined;
    const isPaid = model !== undefined && !given.flags.has('replay');
    const folder = options.folder ?? (isPaid ? keptFolder(io) : undefined);
    const judged =
      queries === undefined ? undefined : judgeTriggers(skills, idOf(ref, skills, options), queries, matching(options));
    const report =
      model === undefined ? undefined : await evaluate(context, ref, skills, model, { ...options, folder });
    await tell(context, report, judged, folder);
    return exitCode(report);
  } catch (error) {
    throw explainReference(error, [ref], skills);
  }
}

function notYet(): never {
  throw new Error('Nothing is run to read evals.');
}

function keptFolder(io: CliIo): string {
  return evalFolder(join(KEPT, `eval-${randomUUID()}`), io);
}

interface EvalFlags {
  runs: number;
  aa: boolean;
  seed: number;
  folder: string | undefined;
  /** Without a consumer, the host itself asks, and the host may see internal skills. */
  who: { consumer?: string; includeInternal: boolean };
  job: EvalJobOptions;
}

function readFlags({ arguments: given, io }: CommandContext): EvalFlags {
  const number = (flag: string, range: typeof RUNS): number | undefined => {
    const text = flagValue(given, flag);
    return text === undefined ? undefined : parseNumber(`--${flag}`, text, range);
  };
  const consumer = consumerFromFlags(given);
  const [budget, limits, maxAttempts] = [
    budgetFromFlags(given),
    limitsFromFlags(given),
    number('max-attempts', ATTEMPTS),
  ];
  const isolation = flagValue(given, 'isolation') as Isolation | undefined;
  const out = flagValue(given, 'out');
  return {
    runs: number('runs', RUNS) ?? DEFAULT_EVAL_RUNS,
    aa: given.flags.has('aa'),
    seed: number('seed', SEEDS) ?? 1,
    folder: out === undefined ? undefined : evalFolder(out, io),
    who: { ...(consumer === undefined ? {} : { consumer }), includeInternal: consumer === undefined },
    job: {
      runner: flagValue(given, 'runner') ?? 'auto',
      language: flagValue(given, 'language') ?? DEFAULT_LANGUAGE,
      limits,
      ...(isolation === undefined ? {} : { isolation }),
      ...(budget === undefined ? {} : { budget }),
      ...(maxAttempts === undefined ? {} : { maxAttempts }),
    },
  };
}

/** A match never offers internal skills, not even to the host. */
function matching({ who: { consumer } }: EvalFlags): ConsumerOptions {
  return { consumer };
}

/** Queries are matched by id; an unknown reference fails as in every other command. */
function idOf(ref: string, skills: SkillsSubsystem, { who }: EvalFlags): string {
  const { rows } = skills.resolve([ref], who);
  requireLoadable(rows, who.consumer ?? DEFAULT_CONSUMER, []);
  return rows[0]?.id ?? ref;
}

async function evaluate(
  context: CommandContext,
  skill: string,
  skills: SkillsSubsystem,
  model: ModelGateway,
  { runs, aa, seed, folder, who, job }: EvalFlags,
): Promise<SkillEvalReport> {
  const { interruption, output, json } = context;
  const runners = await jobRunners(context);
  const settleUrgent = interruption.onUrgent(() => Promise.all(runners.map((runner) => runner.close())));
  try {
    return await evaluateSkill({
      ...{ skills, skill, runs, aa, seed, job, ...who },
      model: folder === undefined ? model : claimFolder(model, folder),
      orchestrator: { runners },
      signal: interruption.signal,
      async onRun(made, { index, total }) {
        if (folder !== undefined) await writeRun(folder, made, job.language ?? DEFAULT_LANGUAGE);
        if (output.watched && !json) await output.note(`run ${index} of ${total}: ${runLine(made.row)}`);
      },
    });
  } finally {
    settleUrgent();
  }
}

function runLine({ eval: id, side, run, status, reason, passRate, assertions }: EvalRun): string {
  const checked = assertions.filter((each) => each.status !== 'unchecked').length;
  const passed = assertions.filter((each) => each.status === 'passed').length;
  const came = passRate === undefined ? 'nothing to check' : `${passed} of ${checked} passed`;
  return `${id}, ${side} ${run}: ${status === 'measured' ? came : `${status}, ${reason}`}`;
}

async function tell(
  { output, json }: CommandContext,
  report: SkillEvalReport | undefined,
  triggers: TriggerReport | undefined,
  folder: string | undefined,
): Promise<void> {
  const document = { ...report, ...(triggers === undefined ? {} : { triggers }) };
  const lines = [
    ...(report === undefined ? [] : evalTable(report)),
    ...(report === undefined || triggers === undefined ? [] : ['']),
    ...(triggers === undefined ? [] : triggerTable(triggers)),
  ];
  if (folder !== undefined) {
    await writeEvalFile(folder, 'summary.json', `${JSON.stringify(document, null, 2)}\n`);
    await writeEvalFile(folder, 'table.txt', lines.map((line) => `${line}\n`).join(''));
  }
  if (json) await output.json(document);
  else for (const line of lines) await output.note(line);
  if (!json && folder !== undefined) await output.note(`written to ${folder}`);
}

/** Between equal sides (`--aa`) a difference is chance, not a fault of the skill. */
function exitCode(report: SkillEvalReport | undefined): number {
  if (report === undefined) return 0;
  return report.verdict === 'could-not-measure' || (report.verdict === 'worse' && !report.aa) ? 1 : 0;
}
