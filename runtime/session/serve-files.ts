import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { SessionFault, SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import type { KeeperProcess, PassedOutput } from './keeper-process.ts';

/** An operation on the files of a session. */
type FileRequest = SessionRequest & { type: 'files' };

/** The end of an operation. */
type Filed = Omit<SandboxMessage & { type: 'filed' }, 'type' | 'id'>;

const MOST_ERROR_CHARACTERS = 500;

/** Reads or writes files of a session in the keeper's process. This process never opens a path of the workspace. */
export async function serveFiles(
  { id, op, path, follow, maxBytes, stream }: FileRequest,
  { channel, layout }: Pick<JobSurroundings, 'channel' | 'layout'>,
  keeper: KeeperProcess,
): Promise<void> {
  const done = Promise.withResolvers<Filed>();
  let output: PassedOutput | undefined;
  const open = (): PassedOutput => {
    const opened = keeper.openOutput();
    channel.send({ type: 'files', id, stream: opened.number } satisfies SandboxMessage);
    return opened;
  };
  const begun = keeper.begin(id, {
    takeBytes: (_output, chunk) => (output ??= open()).write(chunk),
    take: ({ fields }) => done.resolve(filedOf(fields)),
    lose: (reason) => done.resolve({ error: reason, fault: 'lost' }),
  });
  begun.send({ type: 'file', id, op, path, follow: follow === true, maxBytes, folder: layout.workspace });
  if (stream !== undefined) channel.receive(stream, begun.input);
  const filed = await done.promise;
  begun.over();
  await output?.end();
  channel.send({ type: 'filed', id, ...filed } satisfies SandboxMessage);
}

function filedOf({ error, fault }: Record<string, unknown>): Filed {
  if (error === undefined) return {};
  const known: SessionFault | undefined = fault === 'missing' ? fault : undefined;
  return { error: String(error).slice(0, MOST_ERROR_CHARACTERS), ...(known === undefined ? {} : { fault: known }) };
}
