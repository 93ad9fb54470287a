import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { CodegenOptions, JobSkillsOptions } from '../../../contracts/jobs/job.ts';
import { DEFAULT_LANGUAGE } from '../../../contracts/jobs/language.ts';
import { budgetFromFlags } from '../../options/flags/budget-flags.ts';
import { type CommandContext, flagValue, flagValues } from '../../options/flags/command.ts';
import { decodeInput } from '../../terminal/input-file.ts';
import { jobOptions } from '../../options/job-options.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { explainReference, jobSkills } from '../../options/skills/job-skills.ts';
import { keepAnswers } from '../../job/keep-answers.ts';
import { mcpServersFromFlag } from '../../options/flags/mcp-flag.ts';
import { modelFromFlags } from '../../options/flags/model-flags.ts';
import { outputFolder } from '../../options/places/output-folder.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import { valueSchemaFromFlag } from '../../options/flags/value-schema.ts';
import { readStdin } from '../../terminal/read-stdin.ts';
import { reportResult } from '../../job/report-result.ts';
import { notePaths, showWritten } from '../../job/show-written.ts';
import { usageError } from '../../terminal/usage-error.ts';

const TASK_BYTES = 1_000_000;
const MAX_ATTEMPTS = 20;
const TOOL_TOKENS = { minimum: 1, maximum: 1_000_000, unit: 'tokens' };
const MOST_MATCHES = { minimum: 1, maximum: 1_000, unit: 'skills' };
/** Folder for paid-for answers, with a subfolder for each job id, unless `--output` names another. */
const KEPT = 'skillcell-out';

/** `skillcell codegen`: has a program written for a task and runs it; with `--dry-run` prints the prompt. */
export async function runCodegen(context: CommandContext): Promise<number> {
  const { json, output, arguments: given } = context;
  const operand = given.operands[0] ?? '';
  const attempts = flagValue(given, 'max-attempts');
  const range = { minimum: 1, maximum: MAX_ATTEMPTS, unit: 'runs' };
  const maxAttempts = attempts === undefined ? undefined : parseNumber('--max-attempts', attempts, range);
  const match = matchFromFlag(flagValue(given, 'match'));
  const language = flagValue(given, 'language');
  const budget = budgetFromFlags(given);
  const tokens = flagValue(given, 'tool-budget-tokens');
  const toolBudgetTokens = tokens === undefined ? undefined : parseNumber('--tool-budget-tokens', tokens, TOOL_TOKENS);
  const schema = flagValue(given, 'value-schema');
  const value = schema === undefined ? undefined : valueSchemaFromFlag(schema, context.io);
  const mcp = await mcpServersFromFlag(context);
  using network = await networkFromFlags(context);
  const options = await jobOptions(context, operand === '-');
  const dryRun = given.flags.has('dry-run');
  const select = given.flags.has('select');
  if (select && dryRun) throw usageError('--select', 'a dry run asks no model, and a selection needs one', '--dry-run');
  const model = await modelFromFlags(context, dryRun ? 'none' : 'needed');
  const jobId = randomUUID();
  const folder = options.output ?? (dryRun ? undefined : outputFolder(join(KEPT, jobId), context.io));
  const skills = await jobSkills(context);
  // Standard input may take its time, so everything else is checked before it is read.
  const task = await readTask(context, operand);
  const job: { kind: 'codegen' } & CodegenOptions = {
    kind: 'codegen',
    ...options,
    ...network.job,
    ...(match === undefined ? {} : { skills: { ...options.skills, match } }),
    jobId,
    task,
    dryRun,
    ...(select ? { select } : {}),
    ...(budget === undefined ? {} : { budget }),
    ...(toolBudgetTokens === undefined ? {} : { toolBudgetTokens }),
    ...(value === undefined ? {} : { outputs: { value } }),
    ...(folder === undefined ? {} : { output: folder }),
    ...(language === undefined ? {} : { language }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
  };
  const kept = model === undefined || folder === undefined ? undefined : keepAnswers(model, folder);
  const host = {
    mcp,
    ...network.host,
    ...(skills === undefined ? {} : { skills }),
    ...(kept === undefined ? {} : { model: kept.gateway }),
  };
  const { submitJob } = await import('../../job/submit-job.ts');
  try {
    // Failed attempts write too; only the output of the last run is the output of the job.
    const result = await submitJob(context, job, host, 'drop');
    const programs = (await kept?.finish(result, language ?? DEFAULT_LANGUAGE)) ?? [];
    if (!json) {
      if (kept !== undefined) await showWritten(context, result, kept, programs);
      await output.program('stdout', Buffer.from(result.stdout.text));
      if (!dryRun) await output.program('stderr', Buffer.from(result.stderr.text));
    }
    const code = await reportResult(context, result, folder);
    if (!json) await notePaths(context, kept?.answers ?? [], programs);
    return code;
  } catch (error) {
    // An error has no job id: with --json, too, these notes are the only record of the paths.
    await notePaths(context, kept?.answers ?? [], []);
    throw explainReference(error, flagValues(given, 'skill'), skills);
  }
}

function matchFromFlag(value: string | undefined): JobSkillsOptions['match'] {
  if (value === undefined || value === '') return value === '' ? true : undefined;
  return { maxSkills: parseNumber('--match', value, MOST_MATCHES) };
}

async function readTask({ io, interruption }: CommandContext, operand: string): Promise<string> {
  const task =
    operand === '-' ? decodeInput('TASK', await readStdin('TASK', TASK_BYTES, io, interruption), operand) : operand;
  if (task.trim() === '') throw usageError('TASK', 'it must not be empty', operand);
  if (task.length > TASK_BYTES) throw usageError('TASK', `it may have ${TASK_BYTES} characters`, task);
  return task;
}
