import { basename, extname } from 'node:path';
import { type ExecOptions, LANGUAGES, type Language } from '../../contracts/job.ts';
import { type CommandContext, flagValue } from '../command.ts';
import { decodeInput, readInputFile } from '../input-file.ts';
import { jobOptions } from '../job-options.ts';
import { explainReference, jobSkills } from '../job-skills.ts';
import { readStdin } from '../read-stdin.ts';
import { reportResult } from '../report-result.ts';
import { usageError } from '../usage-error.ts';

const CODE_BYTES = 4 * 1024 * 1024;
const PLAIN_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}._ -]{0,100}$/u;
const LANGUAGE_BY_ENDING: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.py': 'python',
  '.sh': 'bash',
};

/** `skillcell exec`: runs the code of a file, or of standard input. */
export async function runExec(context: CommandContext): Promise<number> {
  const { json, arguments: given } = context;
  const file = given.operands[0] ?? '-';
  // Standard input may take its time, so everything else is checked before it is read.
  const options = await jobOptions(context, file === '-');
  const program = await readProgram(context, file);
  const skills = await jobSkills(context);
  const { runJob } = await import('../run-job.ts');
  try {
    const job = { kind: 'exec' as const, ...options, ...program };
    const result = await runJob(context, job, skills === undefined ? {} : { skills }, json ? 'drop' : 'forward');
    return await reportResult(context, result, options.output);
  } catch (error) {
    throw explainReference(error, skills);
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
    file === '-' ? await readStdin(about, CODE_BYTES, io, interruption) : readInputFile(about, file, CODE_BYTES, io);
  const code = decodeInput(about, bytes, file);
  if (code.trim() === '') throw usageError(about, 'the code must not be empty', file);
  const named = LANGUAGES.find((language) => language === flagValue(given, 'language'));
  const language = named ?? LANGUAGE_BY_ENDING[extname(file).toLowerCase()] ?? 'javascript';
  const name = basename(file);
  return { code, language, ...(file !== '-' && PLAIN_NAME.test(name) ? { fileName: name } : {}) };
}
