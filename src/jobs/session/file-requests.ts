import { RUN_CODE_BYTES } from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Channel, StreamReader, StreamWriter } from '../../protocol/channel/channel.ts';
import type { HostMessage, SandboxMessage } from '../../protocol/messages/messages.ts';
import type { FileOperation, SessionRequest } from '../../protocol/messages/session-messages.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { RunGround } from '../run/run-ground.ts';
import { collectBytes } from './collect-bytes.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';

const OPERATION_MS = 60_000;

/** Takes content or output. */
export interface FailingReader extends StreamReader {
  /** Takes no more: withheld bytes are dropped. */
  fail(error: unknown): void;
}

/** An operation on the files of a session. */
export interface FileOrder {
  op: FileOperation;
  path: string;
  /** Reaches any path, and follows links, as a program of the session does. */
  follow?: true;
}

/** An operation that has been sent. */
export interface FileRequest {
  /** Resolves when its content arrives or it is done. Rejects as `done` does. */
  begun: Promise<void>;
  /** Resolves when it is done, and all its content has arrived. Rejects with a SandboxRefusal, or the error that ended the session. */
  done: Promise<void>;
  /** Takes the content of a file to write. */
  content: StreamWriter | undefined;
  /** Tells the sandbox that its caller has left. */
  drop(): void;
}

/** The operations on the files of a session. The sandbox performs them; all its answers are checked. */
export interface FileRequests {
  /** @param reader takes the content; an error of its methods breaks the channel */
  begin(order: FileOrder, maxBytes: number, reader: StreamReader & Partial<FailingReader>): FileRequest;
  /**
   * Performs a whole operation.
   *
   * @throws SandboxRefusal also if it takes too long
   */
  perform(order: FileOrder, maxBytes: number, content?: Uint8Array): Promise<Buffer>;
  message(message: SandboxMessage & { type: 'files' | 'filed' }): void;
  /** Fails the readers that can withhold content: the sandbox ends only when all of its bytes are taken. */
  leave(error: Error): void;
  end(error: Error): void;
}

/** An operation without an answer yet, or with content under way. */
interface Operation {
  /** Channel of the request: the session may be closed when the answer comes. */
  channel: Channel;
  reader: StreamReader & Partial<FailingReader>;
  content: 'none' | 'open' | 'over';
  answer: (SandboxMessage & { type: 'filed' }) | undefined;
  begun: PromiseWithResolvers<void>;
  done: PromiseWithResolvers<void>;
}

/**
 * @param ground throws if the session has ended
 * @param nextId gives a number that no other request of the session has
 */
export function createFileRequests(ground: () => RunGround, nextId: () => number): FileRequests {
  const operations = new Map<number, Operation>();

  const begin: FileRequests['begin'] = ({ op, path, follow }, maxBytes, reader) => {
    const { channel } = ground().sandbox;
    const id = nextId();
    const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    done.promise.then(begun.resolve, begun.reject);
    begun.promise.catch(() => undefined);
    const request = { type: 'files', id, op, path, ...(follow === undefined ? {} : { follow }), maxBytes } as const;
    requireSendable(request);
    const content = op === 'write' ? channel.openStream() : undefined;
    operations.set(id, { channel, reader, content: 'none', answer: undefined, begun, done });
    channel.send({ ...request, ...(content === undefined ? {} : { stream: content.number }) } satisfies HostMessage);
    const drop = (): void => {
      if (operations.has(id)) channel.send({ type: 'drop', id } satisfies HostMessage);
    };
    // A refused write has an open stream.
    if (content !== undefined) done.promise.catch(() => content.end());
    return { begun: begun.promise, done: done.promise, content, drop };
  };
  const settle = (id: number, operation: Operation): void => {
    if (operation.answer === undefined || operation.content === 'open') return;
    operations.delete(id);
    const { error, fault } = operation.answer;
    if (error === undefined) operation.done.resolve();
    else operation.done.reject(new SandboxRefusal(error, fault));
  };
  return {
    begin,
    async perform(order, maxBytes, bytes) {
      let found: Buffer = Buffer.alloc(0);
      const { done, content } = begin(
        order,
        maxBytes,
        collectBytes(maxBytes, (whole) => (found = whole)),
      );
      if (bytes !== undefined) void content?.write(bytes).then(() => content.end());
      await inTime(done);
      return found;
    },
    message(message) {
      const operation = operations.get(message.id);
      if (operation === undefined || operation.answer !== undefined)
        throw new Error('an answer about files without a request');
      if (message.type === 'filed') {
        operation.answer = message;
        return settle(message.id, operation);
      }
      if (operation.content !== 'none') throw new Error('files that come twice');
      operation.content = 'open';
      operation.begun.resolve();
      operation.channel.receive(message.stream, {
        data: (chunk) => operation.reader.data(chunk),
        end() {
          operation.content = 'over';
          operation.reader.end();
          settle(message.id, operation);
        },
      });
    },
    leave(error) {
      for (const { reader } of operations.values()) reader.fail?.(error);
    },
    end(error) {
      for (const { done } of operations.values()) done.reject(error);
      operations.clear();
    },
  };
}

/** Waits for an answer of the sandbox. A late answer is still received, and then dropped. */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  const overdue = (): never => {
    throw new SandboxRefusal(`it took longer than ${OPERATION_MS / 1000} s`);
  };
  return await withinDeadline(answer, { limitMs: OPERATION_MS, overdue });
}

/** @throws SkillcellError `job.invalid` for a request that is larger than the code of a run may be */
export function requireSendable(request: SessionRequest): void {
  if (Buffer.byteLength(JSON.stringify(request)) > RUN_CODE_BYTES)
    throw new SkillcellError('job.invalid', `Cannot use the session: a request has at most ${RUN_CODE_BYTES} bytes.`);
}
