import { basename, extname } from 'node:path';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { ExecOptions, InputFile } from '../../contracts/jobs/job.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { programLanguage } from '../../languages/program-language.ts';
import { codeSchema, PROGRAM_NAME } from '../../jobs/request/job-schema.ts';
import { type AssertionCheck, CheckUnmade, type RunProduct } from '../assertions/assertion.ts';
import type { CompileProgram } from '../assertions/compile-assertion.ts';
import { EVAL_ACTION, evalFault } from '../eval-fault.ts';

/** The folder in which a check finds the artifacts of the run. */
const ARTIFACTS = 'artifacts';
/** The file with the rest of the run. */
const RUN_FILE = 'run.json';
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Runs a program in a sandbox. */
export type RunProgram = (options: ExecOptions) => Promise<JobResult>;

/**
 * Makes checks of programs: each runs in a sandbox of its own, once for each run, and finds the artifacts, the output and the value of the run.
 * It does not learn the side of the run.
 *
 * @param tree the skill's files
 */
export function programChecks(tree: ReadonlyMap<string, { bytes: Uint8Array }>, run: RunProgram): CompileProgram {
  return (path, field) => {
    const file = tree.get(path);
    if (file === undefined || !path.startsWith('evals/'))
      throw evalFault(field, `must be a file below evals/ of the skill, got ${quotedText(path)}`);
    const code = codeOf(file.bytes, path, field);
    const name = basename(path);
    const language = programLanguage(code, name);
    if (language === undefined)
      throw evalFault(field, `names no language by its ending or its first line, got ${quotedText(path)}`);
    const fileName = [name, `main${extname(name)}`, 'main'].find((each) => PROGRAM_NAME.test(each)) ?? 'main';
    return checkBy({ code, language, fileName }, path, run);
  };
}

function codeOf(bytes: Uint8Array, path: string, field: string): string {
  let code: string;
  try {
    code = UTF8.decode(bytes);
  } catch (error) {
    throw evalFault(field, `must be UTF-8, got ${quotedText(path)}`, error);
  }
  // A program that no job takes is refused here, and not when the check runs.
  return checkOptions(codeSchema, code, { action: EVAL_ACTION, whole: field, code: 'eval.invalid' });
}

function checkBy(
  program: Pick<ExecOptions, 'code' | 'language' | 'fileName'>,
  path: string,
  run: RunProgram,
): AssertionCheck {
  return async (product) => {
    const { outcome, value, error } = await run({ ...program, files: filesOf(product) });
    if (outcome === 'failed') return error === undefined ? 'the check failed' : `${error.name}: ${error.message}`;
    if (outcome !== 'succeeded') throw new CheckUnmade(`the check ${path} ended as ${outcome}`);
    return verdictOf(value, path);
  };
}

/** A check that succeeds accepts the run, unless its value says otherwise. */
function verdictOf(value: unknown, path: string): string | undefined {
  if (value === undefined || value === true) return undefined;
  if (value === false) return 'the check says no';
  const { pass, reason } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (typeof pass !== 'boolean')
    throw new CheckUnmade(`the check ${path} has to hand back true, false or { pass, reason }`);
  return pass ? undefined : typeof reason === 'string' ? reason : 'the check says no';
}

function filesOf({ result, files }: RunProduct): InputFile[] {
  const { outcome, exitCode, stdout, stderr, value, omitted } = result;
  const paths = [...files.keys()];
  const run = { outcome, exitCode, stdout: stdout.text, stderr: stderr.text, value, artifacts: paths, omitted };
  return [
    { destination: RUN_FILE, bytes: Buffer.from(JSON.stringify(run)) },
    ...Array.from(files, ([path, bytes]) => ({ destination: `${ARTIFACTS}/${path}`, bytes })),
  ];
}
