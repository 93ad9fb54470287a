import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { RuntimeGlobals } from '../../src/contracts/jobs/globals.ts';
import { DEFAULT_CONSUMER } from '../../src/contracts/jobs/job.ts';
import { DEFAULT_LANGUAGE, type LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import { readLanguage } from '../languages/read-language.ts';
import { connectExecutor } from '../run/program/executor-link.ts';
import type { ExecutorProcess } from '../run/program/executor-process.ts';
import type { ProcessEnd } from '../run/program/wait-status.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import { createRunClock } from '../run/run-clock.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import { runProgram } from '../run/run-program.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import { sendOutputs } from '../run/send-outputs.ts';
import type { UserProcesses } from '../sandbox/user-processes.ts';

const FOLDER = '.rehearsal';
const MAX_MESSAGE_BYTES = 64 * 1024;
const NEVER = new Promise<never>(() => undefined);

/**
 * Runs the code path of one job with a stub executor: it starts no process, answers at once, and its channel leads nowhere. The written files are
 * removed again.
 */
export async function rehearseRun(
  given: SandboxLayout,
  processes: UserProcesses,
  privileges: Privileges,
): Promise<void> {
  const layout = layoutBelow(given);
  const around: JobSurroundings = {
    globals: sampleGlobals(),
    layout,
    processes: { ...processes, terminate: () => undefined, killAll: async () => seeProcesses(processes, privileges) },
    privileges,
    marker: '',
    channel: silentChannel(),
    calls: { call: () => NEVER, relay: () => [] },
    clock: createRunClock(),
    canceled: new AbortController().signal,
    trees: new Map(),
    filesWritten: Promise.resolve([]),
    found: [],
    stdin: undefined,
    takeExecutor: (name) => sampleExecutor(readLanguage(layout.runtime, name)),
  };
  try {
    await sendOutputs(around, await runProgram(around, 1, 'rehearsal', undefined), {});
  } finally {
    privileges.asUser(() => {
      for (const folder of [layout.workspace, layout.value]) rmSync(folder, { recursive: true, force: true });
    });
    privileges.restore();
  }
}

function layoutBelow(given: SandboxLayout): SandboxLayout {
  const workspace = join(given.workspace, FOLDER);
  return { ...given, workspace, output: join(workspace, 'out'), value: join(given.value, FOLDER) };
}

/** Runs all of a kill except the kill. */
function seeProcesses(processes: UserProcesses, privileges: Privileges): boolean {
  privileges.asUserFromNow(() => processes.list());
  return true;
}

function silentChannel(): Channel {
  const writer = { number: 1, write: async () => undefined, end: () => undefined };
  return {
    send: () => undefined,
    sendPacked: () => undefined,
    sendEvent: () => undefined,
    sendLast: () => undefined,
    receive: () => undefined,
    openStream: () => writer,
    close: () => undefined,
    release: () => new PassThrough(),
    backlog: 0,
  };
}

function sampleExecutor(language: LanguageDefinition): ExecutorProcess {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const [messagesIn, messagesOut] = [new PassThrough(), new PassThrough()];
  const ended = Promise.withResolvers<ProcessEnd>();
  messagesOut.once('data', () => {
    // The streams end like those of a program: at level none a run waits for that.
    stdout.end('rehearsal\n');
    stderr.end();
    const body = Buffer.from(JSON.stringify({ type: 'value', json: '1' }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length, 0);
    messagesIn.end(Buffer.concat([length, body]));
    ended.resolve({ code: 0, signal: null });
  });
  return {
    language,
    start: { program: '', env: {} },
    pid: undefined,
    stdin,
    stdout,
    stderr,
    messagesIn,
    messagesOut,
    link: connectExecutor(messagesIn, messagesOut, MAX_MESSAGE_BYTES),
    waiting: Promise.resolve(),
    ended: ended.promise,
  };
}

function sampleGlobals(): RuntimeGlobals {
  return {
    SKILLS_DESCRIPTOR: null,
    SOURCES_POOL: [],
    EXECUTION_ID: 'rehearsal',
    TOOLS: [],
    JOB: {
      kind: 'exec',
      language: DEFAULT_LANGUAGE,
      args: [],
      env: {},
      expect: ['rehearsal'],
      limits: DEFAULT_LIMITS,
      skills: { refs: [], consumer: DEFAULT_CONSUMER, variant: 'full', includeInternal: false },
      code: 'rehearsal',
    },
  };
}
