import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { SupervisorLink } from '../supervisor-link.ts';
import type { KeptOperation } from './kept-operation.ts';
import { createOutputPart, type OutputPart } from './output-part.ts';

/** A request of the supervisor to start a command. */
export interface SpawnMessage {
  type: 'spawn';
  id: number;
  command: string;
  /** Its working folder, from the workspace. */
  folder: string;
  workspace: string;
  env: Record<string, string>;
  isFed: boolean;
}

/** The commands of a session. */
export interface Commands {
  start(message: SpawnMessage): Promise<void>;
  /** Ends the process group of a command, which may outlive the command. */
  kill(id: number, isGentle: boolean): void;
}

const GRACE_MS = 2_000;

/** Starts commands in bash, each in a process group of its own. */
export function createCommands(link: SupervisorLink, operations: Map<number, KeptOperation>): Commands {
  const groups = new Map<number, number>();
  return {
    async start(message) {
      const { id } = message;
      try {
        // The number of an ended group may be reused.
        for (const [known, group] of groups) if (!signalGroup(group, 0)) groups.delete(known);
        const child = startBash(message);
        const exited = new Promise<object>((settle) =>
          child.once('exit', (code, signal) => settle({ type: 'exited', id, code, signal })),
        );
        await new Promise((started, failed) => child.once('spawn', started).once('error', failed));
        const { pid = 0 } = child;
        groups.set(id, pid);
        link.send({ type: 'spawned', id, pid });
        follow(link, operations, { id, child, exited });
      } catch (error) {
        link.send({ type: 'exited', id, error: (error as Error).message });
      }
    },
    kill(id, isGentle) {
      const group = groups.get(id);
      if (group === undefined) return;
      if (!isGentle) signalGroup(group, 'SIGKILL');
      else if (signalGroup(group, 'SIGTERM')) setTimeout(() => signalGroup(group, 'SIGKILL'), GRACE_MS);
    },
  };
}

function startBash({ command, folder, workspace, env, isFed }: SpawnMessage): ChildProcess {
  const cwd = resolve(workspace, folder);
  if (!statSync(cwd).isDirectory()) throw new Error('the working directory is no directory');
  const stdio = [isFed ? 'pipe' : 'ignore', 'pipe', 'pipe'] as const;
  return spawn('/bin/bash', ['-c', '--', command], { cwd, env, stdio: [...stdio], detached: true });
}

/** Passes the outputs of a command and its exit on, and its input to it. */
function follow(
  link: SupervisorLink,
  operations: Map<number, KeptOperation>,
  { id, child, exited }: { id: number; child: ChildProcess; exited: Promise<object> },
): void {
  let open = 3;
  const close = (message: object): void => {
    link.send(message);
    open -= 1;
    if (open === 0) operations.delete(id);
  };
  const outputs = [child.stdout, child.stderr].map((stream, index) =>
    passOn(stream as Readable, createOutputPart(link, 2 * id + index), () =>
      close({ type: 'output-end', id, output: index }),
    ),
  );
  const { stdin } = child;
  stdin?.on('error', ({ message }) => link.send({ type: 'unfed', id, error: message }));
  stdin?.on('close', () => link.send({ type: 'unfed', id, error: 'it has ended' }));
  operations.set(id, {
    bytes: (chunk) =>
      new Promise((resolve) => (stdin?.destroyed === false ? stdin.write(chunk, () => resolve()) : resolve())),
    end: () => stdin?.end(),
    taken: (output, bytes) => outputs[output]?.part.taken(bytes),
    drop: () => outputs.forEach(({ leave }) => leave()),
  });
  void exited.then(async (message) => {
    close(message);
    const [stdout, stderr] = await Promise.all(outputs.map((output) => output.printed()));
    link.send({ type: 'printed', id, stdout, stderr });
  });
}

/**
 * Bytes that wait to be read at most, generously: the outputs are sockets, and a program may enlarge their buffers. A process that a command
 * left behind may write without end.
 */
const MOST_WAITING = 16 * 1024 * 1024;

interface Passed {
  part: OutputPart;
  leave(): void;
  /** The bytes so far, with those that wait to be read. */
  printed(): Promise<number>;
}

/** Reads a stream to its end. Without a caller its bytes are dropped, so that the command does not wait. */
function passOn(stream: Readable, part: OutputPart, onEnd: () => void): Passed {
  let isOver = false;
  let bytes = 0;
  const end = (): void => {
    if (!isOver) onEnd();
    isOver = true;
  };
  let sent = Promise.resolve();
  stream.on('data', (chunk: Buffer) => {
    stream.pause();
    bytes += chunk.length;
    // Node resumes the stream itself when the command exits, so a chunk may come while another waits for room.
    sent = sent.then(() => part.send(chunk)).then(() => void stream.resume());
  });
  stream.on('error', () => undefined);
  stream.once('close', () => void sent.then(end));
  return {
    part,
    leave() {
      part.drop();
      end();
    },
    async printed() {
      const most = bytes + MOST_WAITING;
      for (let known = -1; known !== bytes && bytes < most;) {
        known = bytes;
        await sent;
        // The first round may have asked the kernel before, so only the second one has surely asked for further bytes.
        for (let round = 0; round < 2; round += 1) await new Promise(setImmediate);
      }
      return bytes;
    },
  };
}

/** Signals a whole group. Returns false if it has no process any more. */
function signalGroup(group: number, name: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    // The group has ended by itself.
    return false;
  }
}
