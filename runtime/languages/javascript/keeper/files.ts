import type { SupervisorLink } from '../supervisor-link.ts';
import type { FileMessage } from './file-message.ts';
import type { KeptOperation } from './kept-operation.ts';
import { createOutputPart } from './output-part.ts';
import { readAsProgram, writeAsProgram } from './program-files.ts';
import { failureOf, Refused } from './refused.ts';
import { tooLarge } from './regular-file.ts';
import { readWorkspace, writeWorkspace } from './workspace-files.ts';

/** Rows are sent together, up to this size. */
const GATHERED_BYTES = 64 * 1024;

/** Begins an operation on files. Its end is a message. */
export function beginFile(link: SupervisorLink, operations: Map<number, KeptOperation>, message: FileMessage): void {
  const { id, op, follow } = message;
  const over = (failure: object): void => {
    operations.delete(id);
    link.send({ type: 'file', id, ...failure });
  };
  const fail = (error: unknown): void => over(failureOf(error, follow));
  if (op !== 'write') return void send(link, operations, message).then(() => over({}), fail);
  try {
    operations.set(id, receive(message, over, fail));
  } catch (error) {
    fail(error);
  }
}

/** Receives the content of a file. */
function receive(message: FileMessage, over: (failure: object) => void, fail: (error: unknown) => void): KeptOperation {
  const file = message.follow ? writeAsProgram(message) : writeWorkspace(message);
  const attempt = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      file.drop();
      fail(error);
    }
  };
  return {
    bytes: (chunk) => attempt(() => file.append(chunk)),
    end: () =>
      attempt(() => {
        file.finish();
        over({});
      }),
    taken: () => undefined,
    drop() {
      file.drop();
      fail(new Refused('its caller has left'));
    },
  };
}

/** Sends the content of a file, or rows. */
async function send(link: SupervisorLink, operations: Map<number, KeptOperation>, message: FileMessage): Promise<void> {
  const { id, follow, maxBytes } = message;
  const output = createOutputPart(link, 2 * id);
  operations.set(id, { taken: (_output, bytes) => output.taken(bytes), drop: () => output.drop() });
  let sent = 0;
  for (const piece of gathered(follow ? readAsProgram(message) : readWorkspace(message))) {
    sent += piece.length;
    if (sent > maxBytes) throw tooLarge(maxBytes);
    await output.send(piece);
    if (output.isDropped) return;
  }
}

/** Joins small pieces. */
function* gathered(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  const joined = (): Buffer => {
    const whole = Buffer.concat(held);
    held = [];
    size = 0;
    return whole;
  };
  for (const piece of pieces) {
    if (size > 0 && size + piece.length > GATHERED_BYTES) yield joined();
    if (piece.length > GATHERED_BYTES) yield piece;
    else {
      held.push(piece);
      size += piece.length;
    }
  }
  if (size > 0) yield joined();
}
