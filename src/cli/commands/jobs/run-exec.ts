import { basename, extname } from 'node:path';
import type { ExecOptions } from '../../../contracts/jobs/job.ts';
import { languageNames } from '../../../languages/languages.ts';
import { programLanguage } from '../../../languages/program-language.ts';
import { MAX_CODE_BYTES, PROGRAM_NAME } from '../../../jobs/request/job-schema.ts';
import { type CommandContext, flagValue, flagValues } from '../../options/flags/command.ts';
import { decodeInput, readInputFile } from '../../terminal/input-file.ts';
import { jobOptions } from '../../options/job-options.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { explainReference, jobSkills } from '../../options/skills/job-skills.ts';
import { serviceFromFlags } from '../../options/serving/service-flag.ts';
import { readStdin } from '../../terminal/read-stdin.ts';
import { mcpServersFromFlag } from '../../options/flags/mcp-flag.ts';
import { reportResult } from '../../job/report-result.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell exec`: runs the code of a file, or of standard input. */
export async function runExec(context: CommandContext): Promise<number> {
  const { json, arguments: given } = context;
  const service = serviceFromFlags(context);
  const file = given.operands[0] ?? '-';
  // Standard input may take its time, so everything else is checked before it is read.
  const mcp = await mcpServersFromFlag(context);
  using network = await networkFromFlags(context);
  const options = await jobOptions(context, file === '-');
  const program = await readProgram(context, file);
  if (service !== undefined) {
    const { submitToService } = await import('../../job/submit-to-service.ts');
    const job = { kind: 'exec' as const, ...options, ...network.job, ...program };
    const result = await submitToService(context, { service, job, live: json ? 'drop' : 'forward' });
    return await reportResult(context, result, options.output);
  }
  const skills = await jobSkills(context);
  const { submitJob } = await import('../../job/submit-job.ts');
  try {
    const job = { kind: 'exec' as const, ...options, ...network.job, ...program };
    const host = { mcp, ...network.host, ...(skills === undefined ? {} : { skills }) };
    const result = await submitJob(context, job, host, json ? 'drop' : 'forward');
    return await reportResult(context, result, options.output);
  } catch (error) {
    throw explainReference(error, flagValues(given, 'skill'), skills);
  }
}

async function readProgram(
  { arguments: given, io, interruption }: CommandContext,
  file: string,
): Promise<Pick<ExecOptions, 'code' | 'language' | 'fileName'>> {
  const about = given.operands.length === 0 ? 'the code' : 'FILE';
  if (file === '-' && given.operands.length === 0 && io.stdin.isTTY === true) {
    throw usageError('FILE', 'name a file, or pass the code through standard input', '');
  }
  const bytes =
    file === '-'
      ? await readStdin(about, MAX_CODE_BYTES, io, interruption)
      : readInputFile(about, file, MAX_CODE_BYTES, io);
  const code = decodeInput(about, bytes, file);
  if (code.trim() === '') throw usageError(about, 'the code must not be empty', file);
  const name = basename(file);
  const language = flagValue(given, 'language') ?? programLanguage(code, file === '-' ? undefined : name);
  if (language === undefined) {
    const known = languageNames().join(', ');
    throw usageError(
      about,
      `neither its ending nor its first line names a language; use --language with ${known}`,
      file,
    );
  }
  // A replacement name keeps the ending, which decides the kind of module.
  return {
    code,
    language,
    ...(file === '-' ? {} : { fileName: PROGRAM_NAME.test(name) ? name : `main${extname(name)}` }),
  };
}
