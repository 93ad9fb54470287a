import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { programFileName } from '../../src/contracts/jobs/language.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import { readLanguage } from '../languages/read-language.ts';
import { checkRequirements } from './check-requirements.ts';
import { fittingLineEnds } from './fitting-line-ends.ts';
import type { JobSurroundings } from './job-surroundings.ts';
import { runCode } from './run-code.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { SkillScript } from './skill-script.ts';
import { programVariables } from './program/start-program.ts';

/** Time in which the memory of a killed program must be freed. */
const GONE_TIMEOUT_MS = 5_000;

/** The files in the working folder beside the program. */
export interface RunFiles {
  /** Paths of the job's input files. */
  inputs?: ReadonlySet<string>;
  /** Further files of the program. */
  files?: readonly { path: string; code: string }[];
}

/**
 * One run of the job's program or of a program of the agent. Runs are numbered from 1. Before each later run the workspace is cleared except for
 * `inputs`.
 *
 * @param given the program or the script
 * @throws SkillcellError `script.requirements-missing`, before any program ran
 */
export async function runOnce(
  around: JobSurroundings,
  run: number,
  given: string | SkillScript,
  stdin: Readable | undefined,
  { inputs = new Set(), files = [] }: RunFiles = {},
): Promise<RunOutcome> {
  const { channel, globals, layout } = around;
  const job = globals.JOB;
  // Files of a failed attempt are not outputs of the next one and take none of its room. Its memory must be freed too.
  if (run > 1) {
    const { clearAttempt } = await import('../files/clear-attempt.ts');
    await around.processes.gone(GONE_TIMEOUT_MS);
    around.privileges.asUser(() => clearAttempt(layout, inputs));
  }
  const script = typeof given === 'string' ? undefined : given;
  if (script !== undefined) await checkRequirements(around, script);
  const fileName = script?.name ?? programFileName(readLanguage(layout.runtime, job.language), job.fileName);
  const path = join(script?.folder ?? layout.workspace, fileName);
  const env = programVariables(layout, around.marker, job.env, script);
  const executor = around.takeExecutor(job.language, {
    program: path,
    env,
    ...(script === undefined ? {} : { cwd: script.folder }),
  });
  const writers = { stdout: channel.openStream(), stderr: channel.openStream() };
  const { stdout, stderr } = writers;
  channel.sendEvent({ type: 'run', run, stdout: stdout.number, stderr: stderr.number } satisfies SandboxMessage);
  const { program, diagnostics } =
    typeof given === 'string' ? fittingLineEnds(executor.language, given) : { program: given, diagnostics: [] };
  const outcome = await runCode(
    {
      executor,
      program,
      files,
      fileName,
      path,
      args: job.args,
      env,
      expect: job.expect,
      limits: job.limits,
      stdin,
      writers,
    },
    around,
  );
  return { ...outcome, diagnostics: [...diagnostics, ...outcome.diagnostics] };
}
