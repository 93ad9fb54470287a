import { rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Language } from '../src/contracts/job.ts';
import { outputStreams, type SandboxMessage } from '../src/protocol/messages.ts';
import type { JobSurroundings } from './job-surroundings.ts';
import { runCode } from './run-code.ts';
import type { RunOutcome } from './run-outcome.ts';

/** One run of the job's program or of one that the agent wrote. Runs are numbered from 1. */
export async function runOnce(
  around: JobSurroundings,
  run: number,
  code: string,
  stdin: Readable | undefined,
): Promise<RunOutcome> {
  const { channel, globals, layout } = around;
  const job = globals.JOB;
  // What a failed attempt wrote is no output of the next one. None of its processes is left that could be in the way.
  if (run > 1) around.privileges.asUser(() => rmSync(layout.output, { recursive: true, force: true }));
  channel.send({ type: 'run', run } satisfies SandboxMessage);
  const streams = outputStreams(run);
  return await runCode(
    {
      executor: around.takeExecutor(job.language),
      code,
      fileName: programFileName(job.language, job.fileName),
      language: job.language,
      args: job.args,
      env: job.env,
      expect: job.expect,
      limits: job.limits,
      stdin,
      writers: { stdout: channel.openStream(streams.stdout), stderr: channel.openStream(streams.stderr) },
    },
    around,
  );
}

const EXTENSIONS: Record<Language, string> = { javascript: '.mjs', typescript: '.mts', python: '.py', bash: '.sh' };

/** The name of the user's file in the workspace: the caller's own, with an ending that fixes the language. */
function programFileName(language: Language, given: string | undefined): string {
  const base = (given ?? 'main').replace(/\.[^.]*$/, '') || 'main';
  return `${base}${EXTENSIONS[language]}`;
}
