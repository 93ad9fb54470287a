import type { DiagnosticCode, DiagnosticText } from '../diagnostic-severities.ts';

type Code = Extract<
  DiagnosticCode,
  | 'artifact.dropped'
  | `decision.${string}`
  | 'file.omitted'
  | `generation.${string}`
  | `job.${string}`
  | `limit.${string}`
  | `output.${string}`
  | `packages.${string}`
  | `pool.${string}`
  | `runner.${string}`
  | `processes.${string}`
  | `program.${string}`
  | `result.${string}`
  | `sandbox.${string}`
  | `session.${string}`
  | `script.${string}`
  | `value.${string}`
  | `variable.${string}`
>;

/** Texts of diagnostics from running jobs. */
export const JOB_TEXTS: Readonly<Record<Code, DiagnosticText>> = {
  'decision.skill-denied': {
    meaning:
      'the decision chose a skill that the policy denies to the consumer that writes the code; the code was written without it',
    advice: 'Give both consumers the same skills in `agents_config`, or deny the skill to the decision as well.',
  },
  'decision.tool-unknown': {
    meaning:
      'a pattern in `tools` of a job with `select` or `skills.match` matches no tool of the host or of the chosen skills',
    advice: 'Correct the pattern, unless it is for a skill that another job may choose.',
  },
  'generation.cut-off': {
    meaning: 'the model reached its maximum answer length, and the text ends there',
    advice: 'Ask for a shorter text, or for one part at a time.',
  },
  'limit.watched': {
    meaning: 'the kernel does not enforce this limit here; skillcell checks it several times a second',
    advice: 'Use docker or control groups if the limit must hold at every moment.',
  },
  'limit.unenforced': {
    meaning: 'this limit is not enforced here',
    advice:
      'Use docker or control groups if the limit matters; `skillcell doctor` shows which limits are enforced, and how.',
  },
  'pool.limits-differ': {
    meaning: 'warm sandboxes of this language and level have other limits; the job started cold',
    advice: 'Give the pool and the jobs the same limits.',
  },
  'packages.unknown': {
    meaning: 'the interpreter did not list its packages, so the prompt of a codegen job names none',
    advice: 'Run the interpreter by hand; its installation is usually broken.',
  },
  'packages.scripts-skipped': {
    meaning: 'packages of npm have install scripts, which were not run',
    advice: 'Choose packages that work without them, or run the script in the program if it is needed.',
  },
  'output.incomplete': {
    meaning:
      'the end of the output may be missing and uncounted: a process that was not found or not ended still held the pipe',
    advice: 'Let the program end the processes that it starts, or wait for them.',
  },
  'processes.left': {
    meaning: 'processes of the program could not be killed in time; they end with the sandbox',
    advice: 'Look for a program that hangs in the kernel, for instance on a network file system.',
  },
  'program.line-ends': {
    meaning:
      'the program, or a file that it may run or source, has Windows line ends, which the interpreter takes for part of a word; the copies in the sandbox have Unix line ends',
    advice: 'Save the program and these files with Unix line ends.',
  },
  'script.requirement': {
    meaning: 'the sandbox lacks a package, a package version or a Python version that the script requires',
    advice: 'Install it where sandboxes run, or relax the requirement in the script.',
  },
  'artifact.dropped': {
    meaning: 'artifacts in memory, of this job or of older ones, were evicted to keep their bytes within the limit',
    advice: 'Read artifacts soon after their job, name an `output` folder, or raise `keptArtifactBytes`.',
  },
  'file.omitted': {
    meaning:
      'an entry of an input folder was left out: a link, a device, an unreadable file, or a name with hidden characters',
    advice: 'Name the file itself in `files` if the job needs it, or rename it.',
  },
  'job.canceled-again': {
    meaning: 'a canceled job was canceled again, for instance by a second signal; the first reason is its error',
    advice: 'Nothing to do: the job was over already.',
  },
  'runner.passed-over': {
    meaning: 'a preferred runner could not be used, and the job runs on another one',
    advice: 'Fix the cause in the message, or choose a runner; `skillcell doctor` shows more.',
  },
  'sandbox.restarted': {
    meaning:
      'the sandbox of the job was lost, and the job began anew in another one; its result is that of the last attempt',
    advice: 'Nothing to do. If it repeats, look at the worker that the message names.',
  },
  'sandbox.ended': {
    meaning: 'the sandbox was killed before it could report; its output until then is kept',
    advice: 'Raise the time limit, or let the program end earlier.',
  },
  'result.omitted': {
    meaning:
      'results of a session run are left out: they exceed the limits of a run, or differ from the announcement of the interpreter',
    advice: 'Show fewer or smaller results; write large ones to files of the session.',
  },
  'session.ended': {
    meaning:
      'the session ended without `close`: it was idle for longer than `idleTimeoutMs`; with a state folder, its workspace is kept',
    advice: 'Resume it, or open another one; raise `idleTimeoutMs` if a session may be idle for longer.',
  },
  'session.lost': {
    meaning: 'an interpreter of the session ended or was killed, and all definitions of its runs are lost',
    advice: 'Repeat the definitions. Files of the workspace are still there.',
  },
  'value.invalid': {
    meaning: 'the value of the program is left out',
    advice: 'Return a JSON value within the size limit.',
  },
  'variable.late': {
    meaning:
      'the interpreter reads this environment variable of the run only at its start, and the interpreter of the session has started',
    advice: 'Set the variable for the whole session, or run the program as a job.',
  },
};
