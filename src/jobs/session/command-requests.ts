import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Channel, StreamWriter } from '../../protocol/channel/channel.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';
import type { HostMessage, SandboxMessage } from '../../protocol/messages/messages.ts';
import type { RunGround } from '../run/run-ground.ts';
import { type FailingReader, inTime, requireSendable } from './file-requests.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';

/** The exit of a command, as the sandbox reports it. */
export interface CommandExit {
  code: number | null;
  signal: string | null;
}

/** A command for bash. */
export interface CommandOrder {
  command: string;
  /** A path of any folder, from the workspace. */
  folder: string;
  env: Record<string, string>;
  stdin: boolean;
}

/** A command under way. */
export interface HostCommand {
  pid: number;
  /** Settles with the exit; rejects if it cannot be known. */
  exited: Promise<CommandExit>;
  /** Resolves when the readers have all output that was written until the exit. */
  printed: Promise<void>;
  /** Resolves when its exit is known and its outputs are over. */
  followed: Promise<void>;
  /** Writes to its standard input. Rejects with a SandboxRefusal if the command reads no more. */
  write(chunk: Uint8Array): Promise<void>;
  endInput(this: void): void;
  /** Ends all processes of its group, even if the command itself has exited: asks them first, or kills them at once. */
  kill(isGentle: boolean): void;
  /** Takes no more of its output. The command goes on. */
  leave(): void;
}

/** The commands of a session. The sandbox runs them; all its messages are checked. */
export interface CommandRequests {
  /** @throws SandboxRefusal if the command cannot be started, such as in a folder that does not exist */
  spawn(order: CommandOrder, readers: readonly [FailingReader, FailingReader]): Promise<HostCommand>;
  message(message: CommandReply): void;
  /** Fails the readers, which can withhold output: the sandbox ends only when all of its bytes are taken. */
  leave(error: Error): void;
  end(error: Error): void;
}

type CommandReply = SandboxMessage & { type: 'spawned' | 'exited' | 'printed' | 'unfed' };

export function isCommandReply(message: SandboxMessage): message is CommandReply {
  return ['spawned', 'exited', 'printed', 'unfed'].includes(message.type);
}

/** The state of a command whose last message has not come. */
interface Command {
  channel: Channel;
  readers: readonly [FailingReader, FailingReader];
  started: PromiseWithResolvers<number>;
  exited: PromiseWithResolvers<CommandExit>;
  printed: PromiseWithResolvers<void>;
  followed: PromiseWithResolvers<void>;
  /** Rejects when no more input is read. */
  unfed: PromiseWithResolvers<never>;
  isStarted: boolean;
  hasExited: boolean;
  /** Bytes that each reader has. */
  taken: [number, number];
  /** Bytes that each reader must have before all is printed. */
  printedBytes?: readonly [number, number];
  openOutputs: number;
  isFed: boolean;
}

/**
 * @param ground throws if the session has ended
 * @param nextId gives a number that no other request of the session has
 */
export function createCommandRequests(ground: () => RunGround, nextId: () => number): CommandRequests {
  const commands = new Map<number, Command>();
  let hasEnded = false;

  const settle = (id: number, command: Command): void => {
    if (command.printedBytes?.every((bytes, index) => (command.taken[index] ?? 0) >= bytes)) command.printed.resolve();
    if (!command.hasExited || command.openOutputs > 0) return;
    command.printed.resolve();
    command.followed.resolve();
    if (!command.isFed) commands.delete(id);
  };
  const fail = (command: Command, error: unknown): void => {
    command.started.reject(error);
    command.exited.reject(error);
    command.unfed.reject(error);
    for (const reader of command.readers) reader.fail(error);
  };
  const takeStart = (
    id: number,
    command: Command,
    { pid, stdout, stderr }: CommandReply & { type: 'spawned' },
  ): void => {
    if (command.isStarted || command.hasExited) throw new Error('a command that starts twice, or after its exit');
    command.isStarted = true;
    for (const [index, stream] of [stdout, stderr].entries()) {
      const reader = command.readers[index] as FailingReader;
      command.openOutputs += 1;
      command.channel.receive(stream, {
        data(chunk) {
          command.taken[index as 0 | 1] += chunk.length;
          const taken = reader.data(chunk);
          settle(id, command);
          return taken;
        },
        end() {
          command.openOutputs -= 1;
          reader.end();
          settle(id, command);
        },
      });
    }
    command.started.resolve(pid);
  };
  const takeExit = (command: Command, { code, signal, error, fault }: CommandReply & { type: 'exited' }): void => {
    if (command.hasExited) throw new Error('a command that exits twice');
    command.hasExited = true;
    if (error !== undefined) return fail(command, command.isStarted ? lost(error) : new SandboxRefusal(error, fault));
    if (!command.isStarted) throw new Error('a command that exits before its start');
    command.exited.resolve({ code, signal });
  };
  return {
    async spawn({ command: text, folder, env, stdin }, readers) {
      const { channel } = ground().sandbox;
      const id = nextId();
      const request = { type: 'spawn', id, command: text, folder, env } as const;
      requireSendable(request);
      const input: StreamWriter | undefined = stdin ? channel.openStream() : undefined;
      const command: Command = {
        channel,
        readers,
        started: Promise.withResolvers(),
        exited: Promise.withResolvers(),
        printed: Promise.withResolvers(),
        followed: Promise.withResolvers(),
        unfed: Promise.withResolvers(),
        isStarted: false,
        hasExited: false,
        taken: [0, 0],
        openOutputs: 0,
        isFed: stdin,
      };
      for (const { promise } of [command.started, command.exited, command.unfed]) promise.catch(() => undefined);
      commands.set(id, command);
      channel.send({ ...request, ...(input === undefined ? {} : { stdin: input.number }) } satisfies HostMessage);
      // The sandbox then reads no more, or its command has ended.
      command.unfed.promise.catch(() => input?.end());
      const pid = await inTime(command.started.promise).catch((error: unknown) => {
        // A command that starts too late has no caller.
        channel.send({ type: 'kill', id, isGentle: false } satisfies HostMessage);
        throw error;
      });
      return {
        pid,
        exited: command.exited.promise,
        printed: command.printed.promise,
        followed: command.followed.promise,
        write: (chunk) => Promise.race([command.unfed.promise, input?.write(chunk)]),
        endInput: () => input?.end(),
        kill(isGentle) {
          // The end of the session ends its commands as well.
          if (!hasEnded) channel.send({ type: 'kill', id, isGentle } satisfies HostMessage);
        },
        leave() {
          if (commands.has(id)) channel.send({ type: 'drop', id } satisfies HostMessage);
        },
      };
    },
    message(message) {
      const command = commands.get(message.id);
      if (command === undefined) throw new Error('a message of a command that does not run');
      if (message.type === 'unfed') {
        if (!command.isFed) throw new Error('a command without input, or whose input ends twice');
        command.isFed = false;
        command.unfed.reject(new SandboxRefusal(message.error ?? 'its input has ended'));
      } else if (message.type === 'printed') {
        if (!command.hasExited || command.printedBytes !== undefined)
          throw new Error('a command that has printed before its exit, or twice');
        command.printedBytes = [message.stdout, message.stderr];
      } else if (message.type === 'spawned') takeStart(message.id, command, message);
      else takeExit(command, message);
      settle(message.id, command);
    },
    leave(error) {
      for (const { readers } of commands.values()) for (const reader of readers) reader.fail(error);
    },
    end(error) {
      hasEnded = true;
      for (const command of commands.values()) {
        fail(command, error);
        command.printed.resolve();
        command.followed.resolve();
      }
      commands.clear();
    },
  };
}

/** The reason is text of hostile code. */
function lost(reason: string): SkillcellError {
  return new SkillcellError('sandbox.lost', `Cannot go on with a command: ${printablePath(reason)}.`);
}
