import type { GuestOperations, GuestPorts } from './guest-operations.ts';

/** A command to start. */
export interface StartedCommand {
  /** Its id on the host. */
  id: number;
  command: string;
  folder: string;
  env: Record<string, string>;
  stdin: boolean;
}

/** Starts commands inside, and holds their output until it is taken. It is sent as text: see {@link makeGuest}. */
export function guestCommands({ at, environment }: GuestPorts): GuestOperations {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { statSync } = process.getBuiltinModule('node:fs');
  /** A stream that holds this much is paused, so that its command waits as at a full pipe. */
  const mostHeld = 1024 * 1024;
  const graceMs = 2_000;

  /** One stream of a command. */
  interface Output {
    take(most: number): Buffer;
    readonly bytes: number;
    /** Whether it has ended, and all of it was taken. */
    readonly isOver: boolean;
    drop(): void;
  }
  interface Command {
    pid: number;
    stdout: Output;
    stderr: Output;
    stdin: { write(bytes: Buffer): void; end(): void; readonly held: number; readonly fault: string | undefined };
    exit: { code: number | null; signal: string | null } | undefined;
    wake(): void;
  }
  const commands = new Map<number, Command>();
  /** The process group of each command, which may outlive the command. */
  const groups = new Map<number, number>();

  const commandOf = (id: number): Command => {
    const command = commands.get(id);
    if (command === undefined) throw Object.assign(new Error('it has ended'), { code: 'ESRCH' });
    return command;
  };
  const holdOutput = (stream: NodeJS.ReadableStream, wake: () => void): Output => {
    let held = Buffer.alloc(0);
    let isDropped = false;
    let ended = false;
    stream.on('data', (chunk: Buffer) => {
      if (isDropped) return;
      held = Buffer.concat([held, chunk]);
      if (held.length >= mostHeld) stream.pause();
      wake();
    });
    const end = (): void => {
      ended = true;
      wake();
    };
    stream.on('end', end).on('error', end);
    return {
      take(most) {
        const taken = held.subarray(0, most);
        held = Buffer.from(held.subarray(taken.length));
        if (held.length < mostHeld) stream.resume();
        return taken;
      },
      get bytes() {
        return held.length;
      },
      get isOver() {
        return ended && held.length === 0;
      },
      drop() {
        isDropped = true;
        stream.resume();
      },
    };
  };
  const feedInput = (stream: NodeJS.WritableStream | null): Command['stdin'] => {
    let fault: string | undefined = stream === null ? 'it is closed' : undefined;
    stream?.on('error', (error) => (fault = error.message));
    return {
      write: (bytes) => void stream?.write(bytes),
      end: () => void stream?.end(),
      get held() {
        return (stream as { writableLength?: number } | null)?.writableLength ?? 0;
      },
      get fault() {
        return fault;
      },
    };
  };
  /** Signals a whole group. Returns false if it has no process any more. */
  const kill = (group: number, name: 'SIGTERM' | 'SIGKILL' | 0): boolean => {
    try {
      return process.kill(-group, name);
    } catch {
      // The group has ended by itself.
      return false;
    }
  };
  /** The number of an ended group may be reused. */
  const forgetEnded = (): void => {
    for (const [id, group] of groups) if (!kill(group, 0)) groups.delete(id);
  };

  return {
    async start({ id, command: text, folder, env, stdin }: StartedCommand) {
      const cwd = at(folder);
      if (!statSync(cwd).isDirectory()) throw new Error('the working directory is no directory');
      forgetEnded();
      const child = spawn('/bin/bash', ['-c', text], {
        cwd,
        env: { ...environment, ...env },
        stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
        detached: true,
      });
      const wake = (): void => command.wake();
      const command: Command = {
        pid: child.pid ?? 0,
        stdout: holdOutput(child.stdout as NodeJS.ReadableStream, wake),
        stderr: holdOutput(child.stderr as NodeJS.ReadableStream, wake),
        stdin: feedInput(child.stdin),
        exit: undefined,
        wake: () => undefined,
      };
      child.on('exit', (code, signal) => {
        command.exit = { code, signal };
        wake();
      });
      await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
      commands.set(id, command);
      groups.set(id, command.pid);
      return { said: { pid: command.pid } };
    },
    /** New output of a command, up to `most` bytes of each stream, and its exit; waits a little if there is no news. */
    async news({ id, most, waitMs }: { id: number; most: { stdout: number; stderr: number }; waitMs: number }) {
      const command = commandOf(id);
      const isNews = (name: 'stdout' | 'stderr'): boolean =>
        most[name] > 0 && (command[name].bytes > 0 || command[name].isOver);
      if (command.exit === undefined && !isNews('stdout') && !isNews('stderr')) {
        await new Promise<void>((resolve) => {
          command.wake = resolve;
          setTimeout(resolve, waitMs);
        });
      }
      const { stdout, stderr, exit } = command;
      const printed = [stdout.take(most.stdout), stderr.take(most.stderr)] as const;
      const said = { exit, stdoutBytes: printed[0].length, isOver: { stdout: stdout.isOver, stderr: stderr.isOver } };
      if (exit !== undefined && stdout.isOver && stderr.isOver) commands.delete(id);
      return { said, bytes: Buffer.concat(printed) };
    },
    feed({ id, base64, isEnd }: { id: number; base64: string; isEnd: boolean }) {
      const { stdin } = commandOf(id);
      if (base64 !== '') stdin.write(Buffer.from(base64, 'base64'));
      if (isEnd) stdin.end();
      return { said: { held: stdin.held, fault: stdin.fault } };
    },
    end({ id, isGentle }: { id: number; isGentle: boolean }) {
      const group = groups.get(id);
      if (group === undefined) return { said: {} };
      if (!isGentle) kill(group, 'SIGKILL');
      else if (kill(group, 'SIGTERM')) setTimeout(() => kill(group, 'SIGKILL'), graceMs).unref();
      return { said: {} };
    },
    /** Drops the further output of a command, which may go on. */
    forget({ id }: { id: number }) {
      const command = commands.get(id);
      commands.delete(id);
      command?.stdout.drop();
      command?.stderr.drop();
      return { said: {} };
    },
  };
}
