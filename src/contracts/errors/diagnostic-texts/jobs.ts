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

/** What is found while a job runs. */
export const JOB_TEXTS: Readonly<Record<Code, DiagnosticText>> = {
  'decision.skill-denied': {
    meaning:
      'a skill that the decision chose may not be loaded by the consumer that writes the code; the code was written without it',
    advice: 'Give both consumers the same skills in `agents_config`, or take the skill from the decision as well.',
  },
  'decision.tool-unknown': {
    meaning:
      'a pattern in `tools` of a job with `select` or `skills.match` names no tool of the host, nor of a skill that the job came to',
    advice: 'Correct the pattern, where it is not for a skill that may be chosen another time.',
  },
  'generation.cut-off': {
    meaning: 'the model reached the greatest length of its answers, and the text ends there',
    advice: 'Ask for a shorter text, or for its parts one by one.',
  },
  'limit.watched': {
    meaning: 'a limit that nothing in the kernel holds here; it is looked at several times a second',
    advice: 'Use docker, or control groups, where the limit has to hold at every moment.',
  },
  'limit.unenforced': {
    meaning: 'a limit that is not held here',
    advice: 'Use docker, or control groups, where the limit matters; `skillcell doctor` shows what holds it.',
  },
  'pool.limits-differ': {
    meaning: 'warm sandboxes wait for this language and level, but with other limits; the job started cold',
    advice: 'Give the pool the limits of the jobs, or the jobs those of the pool.',
  },
  'packages.unknown': {
    meaning: 'the interpreter did not say which packages it has, so that the prompt of a codegen job names none',
    advice: 'Run the interpreter by hand; a broken installation of it is the usual reason.',
  },
  'output.incomplete': {
    meaning:
      'what the program wrote may go on behind what is kept and counted: a process held its pipe and was not found, or not ended',
    advice: 'Have the program end the processes that it starts, or wait for them.',
  },
  'processes.left': {
    meaning: 'processes of the program could not be ended in time; they end with the sandbox',
    advice: 'Look for a program that hangs in the kernel, for instance on a network file system.',
  },
  'program.line-ends': {
    meaning:
      'lines of the program, or of files that it may run or source, ended as Windows ends them, which its interpreter takes for part of a word; the copies in the sandbox end them with a line feed alone',
    advice: 'Save the program and these files with Unix line ends.',
  },
  'script.requirement': {
    meaning: 'a package, or a version of one or of Python, that a script requires is not where the script was to run',
    advice: 'Install it where sandboxes run, or relax what the script requires.',
  },
  'artifact.dropped': {
    meaning:
      'artifacts that were in memory, of this job or of older ones, were let go to keep the bound on their bytes',
    advice: 'Read artifacts soon after their job, name an `output` folder, or raise `keptArtifactBytes`.',
  },
  'file.omitted': {
    meaning:
      'an entry of a folder that the job takes was left out: a link, a device, an unreadable file, or a name that hides what it is',
    advice: 'Name the file itself where it is needed, or give it another name.',
  },
  'job.canceled-again': {
    meaning: 'a job that was canceled was canceled again, such as by a second signal; the first reason is its error',
    advice: 'Nothing needs to be done: the job was over already.',
  },
  'runner.passed-over': {
    meaning: 'a runner that is preferred could not be used, and the job runs on another one',
    advice: 'Mend what the message names, or name a runner; `skillcell doctor` tells more.',
  },
  'sandbox.ended': {
    meaning: 'the sandbox was ended before it could report; what it wrote until then is kept',
    advice: 'Raise the time limit, or let the program end earlier.',
  },
  'result.omitted': {
    meaning:
      'results of a run of a session are left out: more than a run may show, or not what its interpreter announced',
    advice: 'Show fewer or smaller results; write large ones to files of the session.',
  },
  'session.ended': {
    meaning:
      'the session ended without being closed: it did nothing for its time; with a state folder its workspace is kept',
    advice: 'Resume it, or open another one; `idleTimeoutMs` says how long a session may do nothing.',
  },
  'session.lost': {
    meaning: 'an interpreter of the session ended or was ended, and with it all that its runs had defined',
    advice: 'Define again what is needed. Files of the workspace are still there.',
  },
  'value.invalid': {
    meaning: 'the value of the program is left out',
    advice: 'Return what JSON can hold, within the limit of its size.',
  },
  'variable.late': {
    meaning:
      'an environment variable of one run is read by interpreters when they start, and that of the session has started',
    advice: 'Open a session with it, or run a program as a job.',
  },
};
