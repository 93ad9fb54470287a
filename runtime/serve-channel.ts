import type { RuntimeGlobals } from '../src/contracts/jobs/globals.ts';
import { DEFAULT_LANGUAGE, type ExecutorStart, type LanguageDefinition } from '../src/contracts/jobs/language.ts';
import { SkillcellError } from '../src/contracts/errors/skillcell-error.ts';
import { createChannel, type Channel } from '../src/protocol/channel/channel.ts';
import {
  PROTOCOL_VERSION,
  type CancelReason,
  type HostMessage,
  type Rehearsal,
  type SandboxMessage,
} from '../src/protocol/messages/messages.ts';
import { readLanguage } from './languages/read-language.ts';
import type { Door } from './network/open-door.ts';
import { createCallPort } from './run/call-port.ts';
import { letGo } from './run/program/let-go.ts';
import { createRunClock } from './run/run-clock.ts';
import type { JobSurroundings, SessionSurroundings } from './run/job-surroundings.ts';
import {
  adoptFirstExecutor,
  isStartedFor,
  neededStart,
  replaceExecutor,
  startExecutor,
  type ExecutorProcess,
} from './run/program/executor-process.ts';
import { createProgramPipes } from './run/program/program-pipes.ts';
import { receiveBytes, receiveFiles, receiveSkills, receiveStdin } from './files/incoming-streams.ts';
import { exitAtOnce } from './sandbox/exit-at-once.ts';
import { hostChannel } from './sandbox/host-channel.ts';
import { readLayout, type SandboxLayout } from './sandbox/sandbox-layout.ts';
import { serveJob } from './serve/serve-job.ts';
import { takePrivileges, type Privileges } from './sandbox/privileges.ts';
import { userProcesses } from './sandbox/user-processes.ts';

const MAX_GLOBALS_BYTES = 64 * 1024 * 1024;
const MAX_FAULT_CHARACTERS = 4_000;
/** A sandbox without a job for this time is waiting in a pool. */
const IDLE_MS = 50;

/**
 * Serves exactly one job over the channel and ends. When the channel ends, it also ends, with all processes that it started.
 *
 * @param args the entry's arguments; they contain no data of the job
 */
export function serveChannel(args: readonly string[]): void {
  const layout = readLayout(args);
  // Written files get the same permissions everywhere, whatever the host's umask.
  process.umask(0o022);
  const language = readLanguage(
    layout.runtime,
    args.find((argument) => argument.startsWith('--language='))?.slice(11) ?? DEFAULT_LANGUAGE,
  );
  const marker = layout.marker;

  const privileges = takePrivileges(layout);
  const start = (wanted: LanguageDefinition, needed?: ExecutorStart): ExecutorProcess => {
    // The pipes are made in the folder of skills, which belongs to the supervisor.
    const pipes = privileges.asSupervisor(() => createProgramPipes(layout, privileges));
    return privileges.asRoot(() => startExecutor(layout, wanted, marker, pipes, needed));
  };

  let ready = false;
  let started = false;
  let used = false;
  let executor = adoptFirstExecutor(layout, language) ?? start(language);
  const processes = userProcesses(layout, privileges, () => executor.pid);

  const cancellation = new AbortController();
  const incoming = receiveAll(layout, privileges);

  const end = async (code: number): Promise<void> => {
    await processes.killAll(2_000);
    exitAtOnce(code);
  };

  const channel: Channel = createChannel(hostChannel(layout), {
    onMessage: (message) => receive(message as HostMessage),
    onPacked: (bytes) => calls.settle(bytes),
    onClose: () => void end(0),
  });
  const calls = createCallPort(channel);
  const clock = createRunClock();
  const session: SessionSurroundings = { start };
  let door: Door | undefined;

  const receive = (message: HostMessage): void => {
    if (message.type === 'start') {
      started = true;
      incoming.begin(channel, message);
      void serve(message);
    } else if (message.type === 'clock') clock.set(message.running);
    else if (message.type === 'rehearse') void practise(message);
    else if (message.type === 'connection' || message.type === 'reset') door?.take(message);
    else if (message.type === 'cancel') cancellation.abort(message.reason satisfies CancelReason);
    else session.take?.(message);
  };

  const practise = async (rehearsal: Rehearsal): Promise<void> => {
    const { rehearse } = await import('./rehearse/rehearse.ts');
    await rehearse(layout, processes, privileges, executor, rehearsal);
    channel.send({ type: 'rehearsed' } satisfies SandboxMessage);
  };

  const takeExecutor = (name: string, wanted?: ExecutorStart): ExecutorProcess => {
    const definition = executor.language.name === name ? executor.language : readLanguage(layout.runtime, name);
    const needed = wanted === undefined ? undefined : neededStart(layout, definition, wanted);
    const isFresh = !used && executor.language === definition;
    const fits = isFresh && (needed === undefined || isStartedFor(executor, needed));
    if (!fits) {
      const replaced = replaceExecutor(layout, executor, definition, needed);
      // A waiting executor that cannot be replaced ends with its link, before user code begins.
      if (replaced === undefined && !used) letGo(executor);
      executor = replaced ?? start(definition, needed);
    }
    used = true;
    return executor;
  };
  const serve = async (sent: StartMessage): Promise<void> => {
    try {
      const canceled = cancellation.signal;
      const inputs = await incoming.inputsOf(sent);
      const { packages } = inputs.globals.JOB;
      // Installers and program have one door; the host knows whose connections it takes.
      const { network = packages?.network } = inputs.globals.JOB;
      const npmrc = network?.npmrc ?? packages?.network.npmrc;
      if (network !== undefined) {
        const { openNetwork } = await import('./network/open-network.ts');
        door = await openNetwork(npmrc === undefined ? network : { ...network, npmrc }, {
          channel,
          layout,
          privileges,
        });
      }
      await serveJob({
        ...inputs,
        layout,
        processes,
        privileges,
        marker,
        channel,
        calls,
        clock,
        canceled,
        found: [],
        takeExecutor,
        session,
      });
    } catch (error) {
      channel.send(faultOf(error));
    }
  };

  const rehearse = (): void => {
    performance.now();
    processes.list();
    executor.messagesOut.write('');
    setImmediate(() => (ready ? setTimeout(loadChecks, IDLE_MS).unref() : loadChecks()));
  };
  /** A job that arrives earlier loads the checks itself if it has skills. */
  const loadChecks = (): void => {
    if (!started) void import('./serve/arrived-skills.ts');
  };

  process.on('SIGTERM', () => void end(0));
  // The first use of each of these takes up to a millisecond; there is time for that until the executor waits.
  setImmediate(rehearse);
  void executor.waiting.then(() => {
    ready = true;
    channel.send({ type: 'ready', protocol: PROTOCOL_VERSION });
  });
  // Without its executor a sandbox never gets ready; ending it at once spares the host the wait until a deadline.
  void executor.ended.then((how) => {
    if (ready) return;
    process.stderr.write(`the executor ended before it was ready (${how.signal ?? how.code})\n`);
    void end(1);
  });
}

type StartMessage = HostMessage & { type: 'start' };

/** The streams that the host sends before the job, and their contents. */
interface Incoming {
  /** Registers the streams that the host is about to send. */
  begin(channel: Channel, sent: StartMessage): void;
  inputsOf(sent: StartMessage): Promise<Pick<JobSurroundings, 'globals' | 'trees' | 'filesWritten' | 'stdin'>>;
}

function receiveAll(layout: SandboxLayout, privileges: Privileges): Incoming {
  const globals = receiveBytes(MAX_GLOBALS_BYTES);
  const skills = receiveSkills();
  const files = receiveFiles(layout, privileges);
  const stdin = receiveStdin();
  return {
    begin(channel, sent) {
      channel.receive(sent.globals, globals.reader);
      if (sent.skills !== undefined) channel.receive(sent.skills, skills.reader);
      if (sent.files !== undefined) channel.receive(sent.files, files.reader);
      if (sent.stdin !== undefined) channel.receive(sent.stdin, stdin.reader);
    },
    async inputsOf(sent) {
      return {
        globals: JSON.parse((await globals.done).toString('utf8')) as RuntimeGlobals,
        trees: sent.skills === undefined ? new Map() : await skills.done,
        filesWritten: sent.files === undefined ? Promise.resolve([]) : files.done,
        stdin: sent.stdin === undefined ? undefined : stdin.stream,
      };
    },
  };
}

function faultOf(error: unknown): SandboxMessage {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_FAULT_CHARACTERS);
  if (!SkillcellError.isInstance(error)) return { type: 'fault', code: 'internal.fault', message, diagnostics: [] };
  return { type: 'fault', code: error.code, message, diagnostics: error.diagnostics };
}
