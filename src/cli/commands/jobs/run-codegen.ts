import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { CodegenOptions, JobSkillsOptions } from '../../../contracts/jobs/job.ts';
import { DEFAULT_LANGUAGE, type Language } from '../../../contracts/jobs/language.ts';
import type { JobResult } from '../../../contracts/jobs/result.ts';
import { budgetFromFlags } from '../../options/flags/budget-flags.ts';
import { type CommandContext, flagValue, flagValues } from '../../options/flags/command.ts';
import { decodeInput } from '../../terminal/input-file.ts';
import { jobOptions } from '../../options/job-options.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { explainReference, jobSkills } from '../../options/skills/job-skills.ts';
import { type KeptAnswers, keepAnswers } from '../../job/keep-answers.ts';
import { mcpServersFromFlag } from '../../options/flags/mcp-flag.ts';
import { modelFromFlags } from '../../options/flags/model-flags.ts';
import { outputFolder } from '../../options/places/output-folder.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import { valueSchemaFromFlag } from '../../options/flags/value-schema.ts';
import { serviceFromFlags } from '../../options/serving/service-flag.ts';
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
  const { arguments: given } = context;
  const service = serviceFromFlags(context);
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
  const ofTeam = teamFromFlags(context);
  if (select && dryRun) throw usageError('--select', 'a dry run asks no model, and a selection needs one', '--dry-run');
  const model = service === undefined ? await modelFromFlags(context, dryRun ? 'none' : 'needed') : undefined;
  const folderOf = (id: string): string | undefined =>
    options.output ?? (dryRun ? undefined : outputFolder(join(KEPT, id), context.io));
  const jobId = randomUUID();
  const folder = folderOf(jobId);
  const skills = service === undefined ? await jobSkills(context) : undefined;
  // Standard input may take its time, so everything else is checked before it is read.
  const task = await readTask(context, operand);
  const job: { kind: 'codegen' } & CodegenOptions = {
    kind: 'codegen',
    ...options,
    ...network.job,
    ...(match === undefined ? {} : { skills: { ...options.skills, match } }),
    task,
    dryRun,
    ...(select ? { select } : {}),
    ...(budget === undefined ? {} : { budget }),
    ...(toolBudgetTokens === undefined ? {} : { toolBudgetTokens }),
    ...(value === undefined ? {} : { outputs: { value } }),
    ...(language === undefined ? {} : { language }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
  };
  const written = language ?? DEFAULT_LANGUAGE;
  if (service !== undefined) {
    const { submitToService } = await import('../../job/submit-to-service.ts');
    const { output: _output, ...sent } = { ...job, ...ofTeam };
    const name = flagValue(given, 'model');
    const answers: string[] = [];
    const result = await submitToService(context, {
      ...{ service, job: { ...sent, ...(name === undefined ? {} : { model: name }) }, live: 'drop', folderOf },
      onAnswer: (text) => answers.push(text),
    });
    const place = folderOf(result.jobId);
    const kept = place === undefined ? undefined : keepAnswers(place);
    for (const text of answers) await kept?.add(text);
    return await report(context, result, { kept, folder: place, language: written });
  }
  const kept = model === undefined || folder === undefined ? undefined : keepAnswers(folder);
  const host = {
    mcp,
    ...network.host,
    ...(skills === undefined ? {} : { skills }),
    ...(kept === undefined || model === undefined ? {} : { model: kept.gateway(model) }),
  };
  const { submitJob } = await import('../../job/submit-job.ts');
  try {
    const placed = { ...job, jobId, ...(folder === undefined ? {} : { output: folder }) };
    const result = await submitJob(context, placed, host, 'drop');
    return await report(context, result, { kept, folder, language: written });
  } catch (error) {
    // An error has no job id: with --json, too, these notes are the only record of the paths.
    await notePaths(context, kept?.answers ?? [], []);
    throw explainReference(error, flagValues(given, 'skill'), skills);
  }
}

/** Shows the program, its output, and the paths of all texts. */
async function report(
  context: CommandContext,
  result: JobResult,
  { kept, folder, language }: { kept: KeptAnswers | undefined; folder: string | undefined; language: Language },
): Promise<number> {
  const { json, output } = context;
  const programs = (await kept?.finish(result, language)) ?? [];
  if (!json) {
    if (kept !== undefined) await showWritten(context, result, kept, programs);
    // Failed attempts write too; only the output of the last run is the output of the job.
    await output.program('stdout', Buffer.from(result.stdout.text));
    if (!context.arguments.flags.has('dry-run')) await output.program('stderr', Buffer.from(result.stderr.text));
  }
  const code = await reportResult(context, result, folder);
  if (!json) await notePaths(context, kept?.answers ?? [], programs);
  return code;
}

/** The fields of a job of a team. @throws SkillcellError `usage.invalid` */
function teamFromFlags({ arguments: given }: CommandContext): { team?: number | string; select?: boolean } {
  const team = flagValue(given, 'team');
  const isOff = given.flags.has('no-select');
  if (team === undefined) {
    if (!isOff) return {};
    throw usageError('--no-select', 'only a job of a team has a selection by itself', 'no --team');
  }
  if (!given.flags.has('server')) throw usageError('--team', 'a service has the teams: add --server URL', team);
  if (isOff && given.flags.has('select')) throw usageError('--no-select', 'it turns --select off', '--select');
  return { team: /^[1-9]\d{0,9}$/.test(team) ? Number(team) : team, ...(isOff ? { select: false } : {}) };
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
