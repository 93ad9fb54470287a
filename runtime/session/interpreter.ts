import { join } from 'node:path';
import { RESULT_BYTES } from '../../src/contracts/jobs/session.ts';
import type { ExecutorProcess } from '../run/program/executor-process.ts';
import type { ProcessEnd } from '../run/program/wait-status.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import type { OutputSource } from '../run/output-capture.ts';
import { countedVariables } from '../run/program/executor-link.ts';
import { networkVariables, variablesOfStart } from '../network/network-variables.ts';
import { programVariables } from '../run/program/place-program.ts';
import { readLanguage } from '../languages/read-language.ts';
import { lastingOutput } from './lasting-output.ts';
import { letGo } from '../run/program/let-go.ts';
import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { makeFifos } from '../run/program/program-pipes.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** Tells a thread of an interpreter that the main thread must stop. The main thread itself may be in a loop and receive nothing. */
interface InterruptPipe {
  /** The path for user code, which may only read it. */
  path: string;
  interrupt(): void;
  close(): void;
}

/** An interpreter that stays open from run to run. */
export interface Interpreter {
  executor: ExecutorProcess;
  stdout: OutputSource;
  stderr: OutputSource;
  /** Asks it to stop its run. A program may refuse. */
  interrupt(run: number): void;
  /** Asks it to end in its own way. Output after this belongs to no run and is dropped. */
  finish(): void;
  /** The end of its process, once it has ended. */
  readonly end: ProcessEnd | undefined;
  /** Sets the callback for its end. Only the last one is called. A promise would keep each run that waits for it. */
  followEnd(take: () => void): void;
  /** Releases this process's handles of it. The code that ends all processes ends its process. */
  close(): void;
}

/** Starts the interpreter of a language, or takes over the waiting one. */
export async function startInterpreter(around: JobSurroundings, language: string): Promise<Interpreter> {
  const { layout, marker, globals, privileges, processes } = around;
  const own = programVariables(layout, marker, globals.JOB.env);
  const variables = { ...networkVariables(globals.JOB.network, layout), ...own };
  const { name, sessionProgram = '' } = readLanguage(layout.runtime, language);
  const program = join(layout.runtime, 'languages', name, sessionProgram);
  const executor = around.takeExecutor(language, { program, env: variablesOfStart(own, variables) });
  await Promise.race([executor.waiting, executor.ended]);
  let end: ProcessEnd | undefined;
  let follower: (() => void) | undefined;
  void executor.ended.then((how) => {
    end = how;
    follower?.();
  });
  const { limits } = globals.JOB;
  const { link, starter } = executor;
  starter?.close();
  let pipe: InterruptPipe | undefined;
  let interrupts = 0;
  if (executor.language.reads === 'strings') {
    link.sendStrings([
      'session',
      ...countedVariables(variables),
      layout.workspace,
      join(layout.value, 'value.json'),
      `${limits.valueBytes}`,
    ]);
  } else {
    if (executor.language.interpreters === undefined) pipe = createInterruptPipe(layout, privileges);
    const session = {
      cwd: layout.workspace,
      valueBytes: limits.valueBytes,
      resultBytes: RESULT_BYTES,
      ...(pipe === undefined ? {} : { interrupt: pipe.path }),
    };
    const network = globals.JOB.network !== undefined;
    const place = { path: program, args: [], cwd: layout.workspace, skills: layout.skills, network };
    link.send({ type: 'run', ...place, env: variables, session });
  }
  // The start-up is not part of the first run's time.
  const ready = new Promise<void>((resolve) => {
    link.onMessage = ({ type }) => {
      if (type === 'waiting') resolve();
    };
  });
  await Promise.race([ready, executor.ended]);
  executor.stdin.on('error', () => undefined);
  executor.stdin.end();
  const [stdout, stderr] = [lastingOutput(executor.stdout), lastingOutput(executor.stderr)];
  return {
    executor,
    stdout,
    stderr,
    followEnd(take) {
      follower = take;
      if (end !== undefined) take();
    },
    interrupt(run) {
      if (pipe === undefined) return executor.pid === undefined ? undefined : processes.interrupt(executor.pid);
      interrupts += 1;
      link.send({ type: 'interrupt', run, count: interrupts });
      pipe.interrupt();
    },
    finish() {
      for (const output of [stdout, stderr]) {
        output.on('data', () => undefined);
        output.resume();
      }
      if (executor.language.reads === 'strings') executor.messagesOut.end();
      else link.send({ type: 'end' });
    },
    get end() {
      return end;
    },
    close() {
      pipe?.close();
      letGo(executor);
    },
  };
}

/** Creates the pipe in the folder of skills, where user code cannot write. */
function createInterruptPipe({ level, skills }: SandboxLayout, privileges: Privileges): InterruptPipe {
  return privileges.asSupervisor(() => {
    const folder = mkdtempSync(join(skills, '.interrupt-'));
    chmodSync(folder, 0o755);
    const path = join(folder, 'pipe');
    makeFifos([path], level, privileges);
    chmodSync(path, 0o644);
    // Open for reading as well, so that there is always a reader and the thread sees no end.
    const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    return {
      path,
      interrupt: () => void writeSync(descriptor, '!'),
      close() {
        closeSync(descriptor);
        privileges.asSupervisor(() => rmSync(folder, { recursive: true, force: true }));
      },
    };
  });
}
