import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { programFileName } from '../../src/contracts/jobs/language.ts';
import { reopenFolder } from '../../src/protocol/files/reopen-folder.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import { undeliverable } from '../files/collect-artifacts.ts';
import { readLanguage } from '../languages/read-language.ts';
import { checkRequirements } from './check-requirements.ts';
import type { EndCause } from './end-cause.ts';
import { fittingLineEnds } from './fitting-line-ends.ts';
import type { JobSurroundings } from './job-surroundings.ts';
import { type MemoryWatch, watchMemory } from '../sandbox/memory-watch.ts';
import { answerCalls, type CallAnswers } from './program/answer-calls.ts';
import { counted, countedVariables, type ExecutorMessage } from './program/executor-link.ts';
import type { ExecutorProcess } from './program/executor-process.ts';
import { letGo } from './program/let-go.ts';
import { makeManifest } from '../network/make-manifest.ts';
import { networkVariables, variablesOfStart } from '../network/network-variables.ts';
import { makeUserFolders, placeProgram, programVariables } from './program/place-program.ts';
import { readProgramError, readProgramValue } from './program/program-report.ts';
import type { ProcessEnd } from './program/wait-status.ts';
import { untilRead } from './output-capture.ts';
import { PIPE_GRACE_MS, runCode } from './run-code.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { RunSubject } from './run-subject.ts';
import type { SkillScript } from './skill-script.ts';

/** Time in which the memory of a killed program must be freed. */
const GONE_TIMEOUT_MS = 5_000;
/** Time in which an interpreter may write its buffered output. */
const FLUSH_GRACE_MS = 250;
const KILL_TIMEOUT_MS = 5_000;
const MIB = 1024 * 1024;

/** The files in the working folder beside the program. */
export interface RunFiles {
  /** Paths of the job's input files. */
  inputs?: ReadonlySet<string>;
  /** Further files of the program. */
  files?: readonly { path: string; code: string }[];
}

/**
 * Runs the job's program, or a program of the agent, to its end. Runs are numbered from 1. Before each later run the workspace is cleared except for
 * `inputs`.
 *
 * @param given the program or the script
 * @throws SkillcellError `script.requirements-missing`, before any program ran
 */
export async function runProgram(
  around: JobSurroundings,
  run: number,
  given: string | SkillScript,
  stdin: Readable | undefined,
  { inputs = new Set(), files = [] }: RunFiles = {},
): Promise<RunOutcome> {
  const { channel, globals, layout, privileges } = around;
  const job = globals.JOB;
  // Files of a failed attempt are not outputs of the next one and take none of its room. Its memory must be freed too.
  if (run > 1) {
    const { clearAttempt } = await import('../files/clear-attempt.ts');
    await around.processes.gone(GONE_TIMEOUT_MS);
    privileges.asUser(() => clearAttempt(layout, inputs, job.packages !== undefined));
  }
  const script = typeof given === 'string' ? undefined : given;
  if (script !== undefined) await checkRequirements(around, script);
  const fileName = script?.name ?? programFileName(readLanguage(layout.runtime, job.language), job.fileName);
  const path = join(script?.folder ?? layout.workspace, fileName);
  const own = programVariables(layout, around.marker, job.env, script);
  const env = { ...networkVariables(job.network, layout), ...own };
  const executor = around.takeExecutor(job.language, {
    program: path,
    env: variablesOfStart(own, env),
    ...(script === undefined ? {} : { cwd: script.folder }),
  });
  const writers = { stdout: channel.openStream(), stderr: channel.openStream() };
  const { stdout, stderr } = writers;
  channel.sendEvent({ type: 'run', run, stdout: stdout.number, stderr: stderr.number } satisfies SandboxMessage);
  const { program, diagnostics } =
    typeof given === 'string' ? fittingLineEnds(executor.language, given) : { program: undefined, diagnostics: [] };
  privileges.restore();
  privileges.asUser(() => {
    makeUserFolders(layout);
    if (job.network?.npmrc !== undefined) makeManifest(layout);
    // A script of a skill stays in place.
    if (program !== undefined) placeProgram(layout, path, [{ path: fileName, code: program }, ...files]);
  });
  // The program's clock starts with the program, not with its interpreter.
  await Promise.race([executor.waiting, executor.ended]);
  const subject = programSubject({ executor, script, path, fileName, env, stdin, writers }, around);
  const { outcome } = await runCode(subject, job.limits, around);
  return { ...outcome, diagnostics: [...diagnostics, ...outcome.diagnostics] };
}

/** A program whose interpreter waits for it. */
export interface ReadyProgram {
  executor: ExecutorProcess;
  script: SkillScript | undefined;
  /** Absolute path of the program. */
  path: string;
  /** Name of the program in its own messages. */
  fileName: string;
  /** The whole environment of the program. */
  env: Record<string, string>;
  stdin: Readable | undefined;
  writers: RunSubject['writers'];
}

/** Causes that a program may react to, within the grace period. */
const STOPPABLE: ReadonlySet<EndCause> = new Set<EndCause>(['run-deadline', 'timeout', 'canceled']);

/** A program as the code of a run. It ends with its interpreter. */
export function programSubject(
  { executor, script, path, fileName, env, stdin, writers }: ReadyProgram,
  { globals, layout, privileges, processes, calls: port }: JobSurroundings,
): RunSubject {
  const { args, limits, expect, network } = globals.JOB;
  const { link, language } = executor;
  const over = Promise.withResolvers<void>();
  const flushed = Promise.withResolvers<void>();
  const saidAll = Promise.withResolvers<void>();
  const overdue = (): undefined => undefined;
  let calls: CallAnswers | undefined;
  let memory: MemoryWatch | undefined;
  let end: ProcessEnd | undefined;
  let reported: unknown;
  let value: (ExecutorMessage & { type: 'value' }) | undefined;

  return {
    lasts: false,
    output: executor,
    writers,
    stoppable: STOPPABLE,
    isIdle: false,
    follow(because) {
      const programEnded = (): void => {
        over.resolve();
        because('itself');
      };
      const answers = (calls = answerCalls(port, link, {
        refusals: limits.calls,
        onExhausted: () => because('calls'),
        onFault: programEnded,
      }));
      link.onBytes = (part, chunk) => answers.takeBytes(part, chunk);
      link.onCall = (bytes) => answers.take(bytes);
      link.onMessage = (message) => {
        if (message.type === 'report') reported = message.error;
        else if (message.type === 'value') value = message;
        else if (message.type === 'flushed') flushed.resolve();
      };
      link.onFault = programEnded;
      executor.messagesIn.once('close', saidAll.resolve);
      void executor.ended.then((how) => {
        end = how;
        programEnded();
      });
      memory = watchMemory({ layout, processes, privileges }, limits.memoryMib * MIB);
    },
    begin() {
      executor.starter?.close();
      const cwd = script?.folder ?? layout.workspace;
      if (language.reads === 'strings') {
        const interpreter = script?.interpreter ?? [];
        link.sendStrings([...countedVariables(env), ...counted(args), path, cwd, ...counted(interpreter)]);
      } else link.send({ type: 'run', path, args, env, cwd, skills: layout.skills, network: network !== undefined });
      // A program may end, or close its stdin, before all input is written.
      executor.stdin.on('error', () => undefined);
      if (stdin === undefined) executor.stdin.end();
      else stdin.pipe(executor.stdin);
    },
    async askToStop(graceMs) {
      const started = performance.now();
      if (processes.flush()) {
        const either = Promise.race([flushed.promise, over.promise]);
        await withinDeadline(either, { limitMs: Math.min(graceMs, FLUSH_GRACE_MS), overdue });
      }
      processes.terminate();
      const limitMs = Math.max(0, graceMs - (performance.now() - started));
      await withinDeadline(over.promise, { limitMs, overdue });
    },
    overMemory: () => memory?.wasOver() === true,
    unfollow() {
      memory?.stop();
      calls?.close();
      stdin?.unpipe();
    },
    kill: () => processes.killAll(KILL_TIMEOUT_MS),
    async report() {
      // The last reports may still be in their pipe, and the exit status comes a moment after a kill.
      await withinDeadline(saidAll.promise, { limitMs: PIPE_GRACE_MS, overdue });
      // On a busy machine the timer may fire before the pipe's content is read.
      await untilRead();
      await withinDeadline(over.promise, { limitMs: KILL_TIMEOUT_MS, overdue });
      const exitCode = end?.code ?? null;
      const succeeded = exitCode === 0;
      // The program continued after an error that it reported, so the error did not end it.
      const error = succeeded ? undefined : readProgramError(reported, fileName);
      return privileges.asUser(() => {
        // A program may have removed the permissions of its own folders; their content is still its result.
        [layout.workspace, layout.value].forEach(reopenFolder);
        return {
          exitCode,
          signal: end?.signal ?? null,
          succeeded,
          error,
          value: readProgramValue(value, layout.value, limits.valueBytes),
          missing: undeliverable(layout.output, limits, expect),
        };
      });
    },
    release: () => letGo(executor),
  };
}
