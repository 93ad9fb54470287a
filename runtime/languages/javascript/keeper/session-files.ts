/**
 * Keeps the files and commands of a session, as a process with the rights and in the namespaces of user code. The supervisor never opens a path of
 * the workspace.
 */
import { connectSupervisor } from '../supervisor-link.ts';
import { createCommands, type SpawnMessage } from './commands.ts';
import type { FileMessage } from './file-message.ts';
import { beginFile } from './files.ts';
import type { KeptOperation } from './kept-operation.ts';

type Message =
  | FileMessage
  /** The input of an operation is over. */
  | { type: 'input-end'; id: number }
  /** The supervisor has passed on bytes of an output: part `2 * id`, or `2 * id + 1` for a second one. */
  | { type: 'taken'; part: number; bytes: number }
  | { type: 'drop'; id: number }
  | SpawnMessage
  | { type: 'kill'; id: number; isGentle: boolean };

const operations = new Map<number, KeptOperation>();

const link = connectSupervisor(
  { incoming: 3, outgoing: 4, isOpen: () => true },
  {
    message: (message) => take(message as Message),
    answer: () => undefined,
    bytes: (id, bytes) => void feed(id, Buffer.from(bytes)),
    // The supervisor has closed the link, so no caller is left.
    closed: () => process.exit(70),
  },
);

const commands = createCommands(link, operations);

function take(message: Message): void {
  if (message.type === 'file') return beginFile(link, operations, message);
  if (message.type === 'taken')
    return operations.get(Math.floor(message.part / 2))?.taken(message.part % 2, message.bytes);
  if (message.type === 'spawn') return void commands.start(message);
  if (message.type === 'kill') return commands.kill(message.id, message.isGentle);
  const operation = operations.get(message.id);
  if (message.type === 'input-end') operation?.end?.();
  else operation?.drop();
}

async function feed(id: number, bytes: Buffer): Promise<void> {
  await operations.get(id)?.bytes?.(bytes);
  link.send({ type: 'fed', id, bytes: bytes.length });
}

// A command may interrupt all processes of its user. That must not end the others.
process.on('SIGINT', () => undefined);
link.stayAlive(true);
link.send({ type: 'waiting' });
