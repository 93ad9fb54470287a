import * as z from 'zod/mini';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { GuestLink } from './guest-link.ts';
import { asOurs, GuestRefusal } from './guest-refusal.ts';
import { constants } from 'node:os';

/** The exit of a command, as the sandbox reports it. */
interface CommandExit {
  code: number | null;
  signal: string | null;
}

/** A command to run. */
export interface CommandOptions {
  command: string;
  workingDirectory?: string | undefined;
  env?: Record<string, string> | undefined;
  stdin: boolean;
}

/** Takes the output of a command. */
export interface CommandReader {
  /** Bytes that it takes now; while it takes none, the command waits as at a full pipe. */
  room(): number;
  take(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
}

/** A command under way. */
export interface RunningCommand {
  pid: number;
  id: number;
  /** Settles with the exit code; rejects if it cannot be known. */
  exited: Promise<number>;
  /** Settles when no more of its output is taken. */
  followed: Promise<void>;
  /** Tells that a reader has room again. */
  wake(): void;
  /** Asks all of its processes to end, and kills them after a moment; or kills them at once. */
  end(isGentle: boolean): Promise<void>;
  /** Takes no more of its output; the command may go on. */
  leave(): void;
}

/** Bytes of each stream that come in one piece. */
const PIECE_BYTES = 1024 * 1024;
/** How long the sandbox waits for news before it reports none: other runs of the session wait as long. */
const WAIT_MS = 20;
/** The longest time between two questions while a command has no output. */
const MOST_PAUSE_MS = 200;

const started = z.object({ pid: z.number() });
const done = z.object({});
const news = z.object({
  exit: z.optional(z.object({ code: z.nullable(z.number().check(z.int())), signal: z.nullable(z.string()) })),
  stdoutBytes: z.number().check(z.int(), z.minimum(0)),
  isOver: z.object({ stdout: z.boolean(), stderr: z.boolean() }),
});

/**
 * Starts a command, and follows it: its output is polled, since a run of a session reports only at its end.
 *
 * @throws SkillcellError `file.unreadable` if it cannot be started, such as in a working folder that is not a folder
 */
export async function startCommand(
  link: GuestLink,
  { command, workingDirectory = '.', env = {}, stdin }: CommandOptions,
  readers: Record<'stdout' | 'stderr', CommandReader>,
): Promise<RunningCommand> {
  const id = link.nextId();
  const given = { id, command, folder: workingDirectory, env, stdin };
  const { said } = await link.ask('start', given, started).catch((error: unknown) => {
    throw asOurs(error, 'run a command', command.slice(0, 200));
  });
  const exited = Promise.withResolvers<number>();
  exited.promise.catch(() => undefined);
  let isLeft = false;
  let resume: () => void = () => undefined;
  const pause = (limitMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const follow = async (): Promise<void> => {
    const over = { stdout: false, stderr: false };
    let exit: CommandExit | undefined;
    let pauseMs = 0;
    while (!isLeft && !(exit !== undefined && over.stdout && over.stderr)) {
      const most = {
        stdout: Math.min(PIECE_BYTES, Math.max(0, readers.stdout.room())),
        stderr: Math.min(PIECE_BYTES, Math.max(0, readers.stderr.room())),
      };
      const isFull = (over.stdout || most.stdout === 0) && (over.stderr || most.stderr === 0);
      const answer = await link
        .ask('news', { id, most, waitMs: exit === undefined ? WAIT_MS : 0 }, news)
        .catch(requireBusy);
      // The line of the session's runs is full, which says nothing of the command.
      if (answer === undefined) {
        await pause(MOST_PAUSE_MS);
        continue;
      }
      const { said: told, bytes } = answer;
      const printed = { stdout: bytes.subarray(0, told.stdoutBytes), stderr: bytes.subarray(told.stdoutBytes) };
      for (const name of ['stdout', 'stderr'] as const) {
        if (printed[name].length > 0) readers[name].take(printed[name]);
        if (!told.isOver[name] || over[name]) continue;
        over[name] = true;
        readers[name].end();
      }
      if (exit === undefined && told.exit !== undefined) {
        exit = told.exit;
        exited.resolve(exitCodeOf(exit));
        pauseMs = 0;
      }
      pauseMs = bytes.length > 0 ? 0 : Math.min(MOST_PAUSE_MS, 2 * pauseMs + 5);
      if (isFull && exit !== undefined) await pause(MOST_PAUSE_MS);
      else if (pauseMs > 0) await pause(pauseMs);
    }
  };
  const followed = follow()
    .then(async () => {
      if (isLeft) await link.ask('forget', { id }, done);
    })
    .catch((error: unknown) => {
      // Its interpreter does not know the command: it is a new one.
      const isLost = error instanceof GuestRefusal && error.code === 'ESRCH';
      const fault = isLost ? lost(command) : asOurs(error, 'go on with a command', command.slice(0, 200));
      exited.reject(fault);
      readers.stdout.fail(fault);
      readers.stderr.fail(fault);
    });
  return {
    id,
    pid: said.pid,
    exited: exited.promise,
    followed,
    wake: () => resume(),
    async end(isGentle) {
      resume();
      await link.ask('end', { id, isGentle }, done);
    },
    leave() {
      isLeft = true;
      exited.reject(new SkillcellError('sandbox.lost', 'Cannot wait for a command: it is no longer followed.'));
      resume();
    },
  };
}

/** @throws any error but a full line of the session's runs */
function requireBusy(error: unknown): undefined {
  if (!SkillcellError.isInstance(error) || error.code !== 'session.busy') throw error;
}

function lost(command: string): SkillcellError {
  const message = `Cannot go on with a command: the interpreters of the session were ended meanwhile, got ${JSON.stringify(command.slice(0, 200))}.`;
  return new SkillcellError('sandbox.lost', message);
}

/** The exit code as a shell gives it: for a command that a signal ended, 128 plus the number of the signal. */
function exitCodeOf({ code, signal }: CommandExit): number {
  if (code !== null) return code;
  return 128 + ((constants.signals as Record<string, number>)[signal ?? ''] ?? 0);
}
