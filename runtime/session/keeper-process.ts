import type { StreamReader, StreamWriter } from '../../src/protocol/channel/channel.ts';
import { KEEPER_WINDOW } from '../../src/protocol/messages/session-messages.ts';
import { readLanguage } from '../languages/read-language.ts';
import type { ExecutorLink, ExecutorMessage } from '../run/program/executor-link.ts';
import type { ExecutorProcess } from '../run/program/executor-process.ts';
import type { JobSurroundings, SessionSurroundings } from '../run/job-surroundings.ts';
import { letGo } from '../run/program/let-go.ts';
import { lacksProcesses } from './unstarted-cell.ts';

/** An operation under way in the keeper's process. The process runs among user code, so only the form of its messages is trusted. */
export interface KeptOperation {
  /** Takes bytes of its first or second output. Resolves when they are passed on. */
  takeBytes(output: number, chunk: Buffer): Promise<void>;
  take(message: ExecutorMessage & { fields: Record<string, unknown> }): void;
  /** Its process has ended, or none could be started for it. */
  lose(reason: string): void;
}

/** An operation that has begun. */
export interface BegunOperation {
  send(message: object): void;
  /** Reads its input, at the speed of the operation. */
  input: StreamReader;
  /** Forgets it: its further messages are ignored, and the rest of its input is dropped. */
  over(): void;
}

/**
 * The process that keeps the files and commands of a session, with the rights of user code. It starts at first use, ends with user code, and
 * another replaces it.
 */
export interface KeeperProcess {
  /** Begins an operation, which is lost at once if user code is at its limit of processes. */
  begin(id: number, operation: KeptOperation): BegunOperation;
  /** Opens a stream to the host for an output. */
  openOutput(): PassedOutput;
  /** Tells the process about an operation, which may be over. */
  tell(message: object): void;
  close(): void;
}

const NO_PROCESS = 'no process can be started for it: the session is at its limit of processes';
const ENDED = 'the processes of the session were ended meanwhile';
/** An operation that no process serves. */
const LOST: BegunOperation = {
  send: () => undefined,
  input: { data: () => undefined, end: () => undefined },
  over: () => undefined,
};

/** One process, with the operations that have begun in it. */
interface Running {
  executor: ExecutorProcess;
  operations: Map<number, KeptOperation & { fed(bytes: number): void }>;
  hasEnded: boolean;
}

/** Creates the keeper of one session. */
export function createKeeperProcess(around: JobSurroundings, session: SessionSurroundings): KeeperProcess {
  let running: Running | undefined;
  return {
    begin(id, operation) {
      try {
        if (running === undefined || running.hasEnded) running = start(around, session);
      } catch (error) {
        if (!lacksProcesses(error)) throw error;
        operation.lose(NO_PROCESS);
        return LOST;
      }
      const { executor, operations } = running;
      const input = passInput(executor.link, id);
      operations.set(id, { ...operation, fed: input.fed });
      return {
        send: (message) => executor.link.send(message),
        input: input.reader,
        over() {
          operations.delete(id);
          input.drop();
        },
      };
    },
    openOutput: () => passOutput(around.channel.openStream()),
    tell(message) {
      if (running?.hasEnded === false) running.executor.link.send(message);
    },
    close() {
      if (running !== undefined) letGo(running.executor);
    },
  };
}

function start(around: JobSurroundings, session: SessionSurroundings): Running {
  const { hold: _, ...rest } = readLanguage(around.layout.runtime, 'javascript');
  around.privileges.restore();
  const executor = session.start({
    ...rest,
    command: ['--max-old-space-size=%heapMib%', './keeper/session-files.mjs'],
  });
  const running: Running = { executor, operations: new Map(), hasEnded: false };
  const { link } = executor;
  const end = (how: string): void => {
    if (running.hasEnded) return;
    running.hasEnded = true;
    letGo(executor);
    for (const operation of running.operations.values()) operation.lose(`${ENDED} (${how})`);
  };
  void executor.ended.then(({ signal, code }) => end(signal ?? `code ${code ?? 'unknown'}`));
  executor.stdout.resume();
  executor.stderr.resume();
  link.onFault = end;
  /** Bytes of each output that are not passed on yet. */
  const waiting = new Map<number, number>();
  link.onBytes = (part, chunk) => {
    const operation = running.operations.get(Math.floor(part / 2));
    if (operation === undefined) return;
    const held = (waiting.get(part) ?? 0) + chunk.length;
    if (held > KEEPER_WINDOW) return end('it sent too much at once');
    waiting.set(part, held);
    void operation.takeBytes(part % 2, chunk).then(() => {
      const left = (waiting.get(part) ?? 0) - chunk.length;
      if (left > 0) waiting.set(part, left);
      else waiting.delete(part);
      if (!running.hasEnded) link.send({ type: 'taken', part, bytes: chunk.length });
    });
  };
  link.onMessage = (message) => {
    if (!('fields' in message)) return;
    const { id, bytes } = message.fields;
    const operation = running.operations.get(id as number);
    if (message.type === 'fed') operation?.fed(bytes as number);
    else operation?.take(message);
  };
  return running;
}

/** Passes input on, and grants more of it when the operation has read it. */
function passInput(link: ExecutorLink, id: number): { reader: StreamReader; fed(bytes: number): void; drop(): void } {
  let isDropped = false;
  let unread = 0;
  let grant = (): void => undefined;
  return {
    reader: {
      data(chunk) {
        if (isDropped) return undefined;
        unread += chunk.length;
        const read = new Promise<void>((resolve) => {
          const before = grant;
          grant = () => {
            before();
            resolve();
          };
        });
        // The process may claim to have read bytes that still wait for room.
        return Promise.all([read, link.sendBytes(id, chunk)]).then(() => undefined);
      },
      end() {
        if (!isDropped) link.send({ type: 'input-end', id });
      },
    },
    fed(bytes) {
      unread -= bytes;
      if (unread > 0) return;
      grant();
      grant = () => undefined;
    },
    drop() {
      isDropped = true;
      grant();
    },
  };
}

/** Bytes of an operation on their way to the host, in order. */
export interface PassedOutput {
  readonly number: number;
  write(chunk: Buffer): Promise<void>;
  /** Ends the stream after all its bytes. */
  end(): Promise<void>;
}

/** Passes an output on by a stream of the channel. */
function passOutput(writer: StreamWriter): PassedOutput {
  let last = Promise.resolve();
  return {
    number: writer.number,
    write(chunk) {
      const bytes = Buffer.from(chunk);
      return (last = last.then(() => writer.write(bytes)));
    },
    end: () => (last = last.then(() => writer.end())),
  };
}
