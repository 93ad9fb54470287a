import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import type { StreamReader, StreamWriter } from '../../src/protocol/channel/channel.ts';
import { readLanguage } from '../languages/read-language.ts';
import type { ExecutorProcess } from '../run/program/executor-process.ts';
import type { JobSurroundings, SessionSurroundings } from '../run/job-surroundings.ts';
import { letGo } from '../run/program/let-go.ts';
import { lacksProcesses } from './unstarted-cell.ts';

/** An operation on the files of a session. */
type FileRequest = SessionRequest & { type: 'files' };

/** Reads and writes the workspace of a session by a process with the rights of user code. This process never opens a path of the workspace. */
export interface FileKeeper {
  serve(request: FileRequest): Promise<void>;
  close(): void;
}

/** The process that runs the operations. It ends with user code, and another replaces it. */
interface Keeper {
  executor: ExecutorProcess;
  /** Operations without an answer. */
  pending: Map<number, PendingOperation>;
  ended: boolean;
}

interface PendingOperation {
  writer: StreamWriter | undefined;
  finish(error: string | undefined): void;
}

const MOST_ERROR_CHARACTERS = 500;
const NO_PROCESS = 'no process can be started for it: the session is at its limit of processes';
const ENDED = 'the processes of the session were ended meanwhile';

/** Creates the keeper of one session; its process starts at first use. */
export function createFileKeeper(around: JobSurroundings, session: SessionSurroundings): FileKeeper {
  const { channel } = around;
  let keeper: Keeper | undefined;
  return {
    async serve({ id, op, path, maxBytes, stream }) {
      try {
        if (keeper === undefined || keeper.ended) keeper = startKeeper(around, session);
      } catch (error) {
        if (!lacksProcesses(error)) throw error;
        if (stream !== undefined) channel.receive(stream, { data: () => undefined, end: () => undefined });
        channel.send({ type: 'filed', id, error: NO_PROCESS } satisfies SandboxMessage);
        return;
      }
      const { executor, pending } = keeper;
      const done = Promise.withResolvers<string | undefined>();
      pending.set(id, { writer: undefined, finish: done.resolve });
      executor.link.send({ type: 'file', id, op, path, maxBytes, folder: around.layout.workspace });
      if (stream !== undefined) channel.receive(stream, passOn(executor, id));
      const error = await done.promise;
      pending.get(id)?.writer?.end();
      pending.delete(id);
      channel.send({ type: 'filed', id, ...(error === undefined ? {} : { error }) } satisfies SandboxMessage);
    },
    close() {
      if (keeper !== undefined) letGo(keeper.executor);
    },
  };
}

/** Passes written bytes to the keeper, at its speed. */
function passOn({ link }: ExecutorProcess, id: number): StreamReader {
  return { data: (chunk) => link.sendBytes(id, chunk), end: () => link.send({ type: 'file-end', id }) };
}

function startKeeper(around: JobSurroundings, session: SessionSurroundings): Keeper {
  const { channel, layout } = around;
  const { hold: _, ...rest } = readLanguage(layout.runtime, 'javascript');
  around.privileges.restore();
  const executor = session.start({ ...rest, command: ['--max-old-space-size=%heapMib%', './session-files.mjs'] });
  const pending: Keeper['pending'] = new Map();
  const keeper: Keeper = { executor, pending, ended: false };
  const { link } = executor;
  const end = (): void => {
    keeper.ended = true;
    for (const { finish } of pending.values()) finish(ENDED);
  };
  void executor.ended.then(end);
  executor.stdout.resume();
  executor.stderr.resume();
  link.onFault = end;
  link.onBytes = (id, chunk) => {
    const operation = pending.get(id);
    if (operation === undefined) return;
    if (operation.writer === undefined) {
      operation.writer = channel.openStream();
      channel.send({ type: 'files', id, stream: operation.writer.number } satisfies SandboxMessage);
    }
    link.hold('bytes');
    void operation.writer.write(chunk).then(() => link.release('bytes'));
  };
  link.onMessage = (message) => {
    if (message.type !== 'file') return;
    const { id, error } = message.fields;
    const text = error === undefined ? undefined : String(error).slice(0, MOST_ERROR_CHARACTERS);
    pending.get(id as number)?.finish(text);
  };
  return keeper;
}
