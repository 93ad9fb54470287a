import { constants } from 'node:os';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { CommandExit, HostCommand } from '../../jobs/session/command-requests.ts';
import type { FailingReader } from '../../jobs/session/file-requests.ts';
import type { SandboxPort } from '../../jobs/session/sandbox-port.ts';
import { asOurs } from './as-ours.ts';

/** A command to run. */
export interface CommandOptions {
  command: string;
  workingDirectory?: string | undefined;
  env?: Record<string, string> | undefined;
  stdin: boolean;
}

/** A command under way. */
export interface RunningCommand extends Omit<HostCommand, 'exited'> {
  /** Settles with the exit code; rejects if it cannot be known. */
  exited: Promise<number>;
}

/**
 * Starts a command. The session is not idle until the command has exited and its outputs are over.
 *
 * @throws SkillcellError `file.unreadable` if it cannot be started, such as in a working folder that is not a folder
 */
export async function startCommand(
  port: SandboxPort,
  { command, workingDirectory = '.', env = {}, stdin }: CommandOptions,
  readers: Record<'stdout' | 'stderr', FailingReader>,
): Promise<RunningCommand> {
  const order = { command, folder: workingDirectory, env, stdin };
  const started = port.busy(port.spawn(order, [readers.stdout, readers.stderr]));
  const running = await started.catch((error: unknown) => {
    throw asOurs(error, 'run a command', command.slice(0, 200));
  });
  const left = Promise.withResolvers<void>();
  void port.busy(Promise.race([running.followed, left.promise]));
  const exited = Promise.race([running.exited.then(exitCodeOf), left.promise.then(noExit)]);
  exited.catch(() => undefined);
  return {
    ...running,
    exited,
    leave() {
      running.leave();
      left.resolve();
    },
  };
}

/** The exit code as a shell gives it: for a command that a signal ended, 128 plus the number of the signal. */
function exitCodeOf({ code, signal }: CommandExit): number {
  if (code !== null) return code;
  return 128 + ((constants.signals as Record<string, number>)[signal ?? ''] ?? 0);
}

function noExit(): never {
  throw new SkillcellError('sandbox.lost', 'Cannot wait for a command: it is no longer followed.');
}
