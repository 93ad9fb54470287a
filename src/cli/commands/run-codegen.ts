import { type CodegenOptions, LANGUAGES } from '../../contracts/job.ts';
import { type CommandContext, flagValue } from '../command.ts';
import { decodeInput } from '../input-file.ts';
import { jobOptions } from '../job-options.ts';
import { explainReference, jobSkills } from '../job-skills.ts';
import { modelFromFlags } from '../model-flags.ts';
import { parseNumber } from '../parse-number.ts';
import { readStdin } from '../read-stdin.ts';
import { reportResult } from '../report-result.ts';
import { usageError } from '../usage-error.ts';

const TASK_BYTES = 1_000_000;
const MAX_ATTEMPTS = 20;

/** `skillcell codegen`: has a program written for a task and runs it; with `--dry-run` prints the prompt. */
export async function runCodegen(context: CommandContext): Promise<number> {
  const { json, output, arguments: given } = context;
  const operand = given.operands[0] ?? '';
  const attempts = flagValue(given, 'max-attempts');
  const range = { minimum: 1, maximum: MAX_ATTEMPTS, unit: 'runs' };
  const maxAttempts = attempts === undefined ? undefined : parseNumber('--max-attempts', attempts, range);
  const language = LANGUAGES.find((name) => name === flagValue(given, 'language'));
  const options = await jobOptions(context, operand === '-');
  const dryRun = given.flags.has('dry-run');
  const model = await modelFromFlags(context, dryRun);
  const skills = await jobSkills(context);
  // Standard input may take its time, so everything else is checked before it is read.
  const task = await readTask(context, operand);
  const job: { kind: 'codegen' } & CodegenOptions = {
    kind: 'codegen',
    ...options,
    task,
    dryRun,
    ...(language === undefined ? {} : { language }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
  };
  const host = { ...(skills === undefined ? {} : { skills }), ...(model === undefined ? {} : { model }) };
  const { runJob } = await import('../run-job.ts');
  try {
    // Attempts that fail write too: only what the last run wrote is the job's output.
    const result = await runJob(context, job, host, 'drop');
    if (!json) {
      await output.program('stdout', Buffer.from(result.stdout.text));
      if (!dryRun) await output.program('stderr', Buffer.from(result.stderr.text));
    }
    return await reportResult(context, result, options.output);
  } catch (error) {
    throw explainReference(error, skills);
  }
}

async function readTask({ io, interruption }: CommandContext, operand: string): Promise<string> {
  const task =
    operand === '-' ? decodeInput('TASK', await readStdin('TASK', TASK_BYTES, io, interruption), operand) : operand;
  if (task.trim() === '') throw usageError('TASK', 'it must say what to do', operand);
  if (task.length > TASK_BYTES) throw usageError('TASK', `it may have ${TASK_BYTES} characters`, task);
  return task;
}
