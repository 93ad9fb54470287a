import { setFlagsFromString } from 'node:v8';
import { diagnostic, type Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import type { JobSurroundings, SessionSurroundings } from '../run/job-surroundings.ts';
import type { ProcessEnd } from '../run/program/wait-status.ts';
import { createFirstCause, type EndCause, type FirstCause } from '../run/end-cause.ts';
import { type MemoryWatch, watchMemory } from '../sandbox/memory-watch.ts';
import { watchFolders } from '../run/run-code.ts';
import { judge } from '../run/judge-run.ts';
import { emptyRun } from '../run/run-outcome.ts';
import { sendOutputs } from '../run/send-outputs.ts';
import { makeUserFolders, programVariables } from '../run/program/place-program.ts';
import { makeManifest } from '../network/make-manifest.ts';
import { networkVariables } from '../network/network-variables.ts';
import { readLanguage } from '../languages/read-language.ts';
import { serveFiles } from './serve-files.ts';
import { startInterpreter, type Interpreter } from './interpreter.ts';
import { createKeeperProcess } from './keeper-process.ts';
import { type CellSurroundings, runCell } from './run-cell.ts';
import type { Cell } from './tell-cell.ts';
import { lacksProcesses, tellUnready, tellUnstarted, UnreadyInterpreter } from './unstarted-cell.ts';

const MIB = 1024 * 1024;
const KILL_TIMEOUT_MS = 5_000;

/** Serves the requests of a session until its host or the clock of its job ends it. */
export async function serveSession(around: JobSurroundings, requests: SessionSurroundings): Promise<void> {
  const { canceled } = around;
  keepSmall();
  const { layout, globals, privileges } = around;
  privileges.asUser(() => {
    makeUserFolders(layout);
    if (globals.JOB.network?.npmrc !== undefined) makeManifest(layout);
  });
  const over = Promise.withResolvers<EndCause>();
  const session = createInterpreters(around);
  const keeper = createKeeperProcess(around, requests);
  /** Set from the moment of the host's request: a run may be interrupted before its interpreter has started. */
  let running: { run: number; stop: FirstCause } | undefined;
  let turn = Promise.resolve();

  const run = async (cell: Cell, stop: FirstCause): Promise<void> => {
    try {
      const interpreter = await session.get(cell.language);
      await runCell(cell, { around, interpreter, losses: session.takeLosses(), ...session.state() }, stop);
    } catch (error) {
      const { epoch, lose } = session.state();
      if (error instanceof UnreadyInterpreter) tellUnready(cell, epoch, around.channel, error);
      else if (lacksProcesses(error)) {
        await lose();
        tellUnstarted(cell, epoch, around.channel);
      } else throw error;
    }
    if (running?.stop === stop) running = undefined;
  };
  const fail = (error: unknown): void => over.reject(error);
  // Few sessions run commands.
  const spawn = async (request: SessionRequest & { type: 'spawn' }): Promise<void> => {
    const { serveCommand } = await import('./serve-command.ts');
    const { limits, env, network } = globals.JOB;
    const variables = { ...networkVariables(network, layout), ...programVariables(layout, around.marker, env) };
    const watch = (onOver: (limit: string) => void): (() => void) => {
      const stop = watchFolders(layout, limits, onOver);
      return () => {
        stop();
        if (running === undefined) session.forgetExcess();
      };
    };
    serveCommand(request, { channel: around.channel, layout, globals, keeper, variables, watch });
  };
  requests.take = (request: SessionRequest): void => {
    if (request.type === 'end') over.resolve('itself');
    else if (request.type === 'files') serveFiles(request, around, keeper).catch(fail);
    else if (request.type === 'spawn') spawn(request).catch(fail);
    else if (request.type === 'drop' || request.type === 'kill') keeper.tell(request);
    else if (request.type === 'cell') {
      const stop = createFirstCause();
      running = { run: request.run, stop };
      turn = turn.then(() => run(request, stop)).catch(fail);
    } else if (running?.run === request.run) running.stop.resolve(request.reason);
  };
  const cancel = (): void => over.resolve(canceled.reason as EndCause);
  if (canceled.aborted) cancel();
  canceled.addEventListener('abort', cancel, { once: true });

  const cause = await over.promise;
  await turn;
  delete requests.take;
  if (cause === 'itself') await session.finish();
  await session.end();
  keeper.close();
  const verdict =
    cause === 'itself' ? { outcome: 'succeeded' as const } : judge(cause, false, layout, globals.JOB.limits);
  await sendOutputs(around, { ...emptyRun([]), ...verdict }, {});
}

/**
 * Keeps the heap small. Otherwise V8 would collect a session's garbage only when it exceeds the supervisor's share of the memory, at the cost of user
 * code. The space for new objects would grow to 100 MiB; here it keeps its first size. V8's own `--optimize-for-size` has that effect too, but makes
 * each run a tenth slower. Collections are so small that waking other threads for them takes longer.
 */
function keepSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--no-parallel-scavenge');
}

/** The interpreters of one session: one for each kind that its runs have used. */
interface Interpreters {
  /** Returns the interpreter of a language; a new one if the old one has ended. */
  get(language: string): Promise<Interpreter>;
  state(): Pick<CellSurroundings, 'epoch' | 'overMemory' | 'lose'>;
  /** Returns the losses between runs that have not been reported. */
  takeLosses(): Diagnostic[];
  /** Forgets that memory was exceeded, if all interpreters live: a command that has ended did it, and the next run must not fail for it. */
  forgetExcess(): void;
  /** Lets the interpreters end in their own way: they flush their files and run the exit handlers of the code. */
  finish(): Promise<void>;
  /** Ends all processes of user code. */
  end(): Promise<void>;
}

function createInterpreters(around: JobSurroundings): Interpreters {
  const { processes, privileges, globals, layout } = around;
  const open = new Map<string, Interpreter>();
  /** Keys of interpreters by language. A definition is read only once, because a short run takes hardly longer than that. */
  const keys = new Map<string, string>();
  const keyOf = (language: string): string => {
    const known = keys.get(language) ?? readLanguage(layout.runtime, language).session ?? language;
    keys.set(language, known);
    return known;
  };
  const watch = (): MemoryWatch => watchMemory(around, globals.JOB.limits.memoryMib * MIB);
  let memory = watch();
  let epoch = 1;
  let losses: Diagnostic[] = [];

  const lose = async (running?: Interpreter): Promise<boolean> => {
    memory.stop();
    const dead = await processes.killAll(KILL_TIMEOUT_MS);
    await processes.gone(KILL_TIMEOUT_MS);
    const { clearSharedMemory } = await import('../files/clear-attempt.ts');
    privileges.asUser(() => clearSharedMemory(layout));
    privileges.restore();
    for (const interpreter of open.values()) if (interpreter !== running) interpreter.close();
    open.clear();
    epoch += 1;
    memory = watch();
    return dead;
  };
  return {
    async get(language) {
      const key = keyOf(language);
      const ended = [...open.values()].flatMap(({ end }) => (end === undefined ? [] : [end]));
      if (ended.length > 0) {
        // An interpreter ended between two runs. The definitions of the others go too, so that all have the same epoch.
        const overMemory = memory.wasOver();
        losses.push(...ended.map((end) => lossBetween(end, overMemory)));
        await lose();
      }
      const there = open.get(key);
      if (there !== undefined) return there;
      const started = await startInterpreter(around, language);
      if (started.end !== undefined) {
        started.close();
        throw new UnreadyInterpreter(language, started.end);
      }
      open.set(key, started);
      return started;
    },
    takeLosses() {
      const taken = losses;
      losses = [];
      return taken;
    },
    forgetExcess() {
      if (!memory.wasOver() || [...open.values()].some(({ end }) => end !== undefined)) return;
      memory.stop();
      memory = watch();
    },
    state: () => ({ epoch, overMemory: (mainLives) => memory.wasOver(mainLives), lose }),
    async finish() {
      const living = [...open.values()].filter(({ end }) => end === undefined);
      for (const interpreter of living) interpreter.finish();
      const ended = Promise.all(living.map(({ executor }) => executor.ended));
      await withinDeadline(ended, { limitMs: globals.JOB.limits.graceMs, overdue: () => [] });
    },
    async end() {
      await lose();
      memory.stop();
    },
  };
}

function lossBetween(end: ProcessEnd, overMemory: boolean): Diagnostic {
  const how = overMemory
    ? 'because its memory was over its limit'
    : `with ${end.signal ?? `code ${end.code ?? 'unknown'}`}`;
  return diagnostic(
    'session.lost',
    `Between this run and the previous one an interpreter ended ${how}, and the definitions of the session's runs are lost.`,
  );
}
