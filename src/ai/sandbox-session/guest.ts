import { guestCommands } from './guest-commands.ts';
import { guestFiles } from './guest-files.ts';
import type { GuestAnswer, GuestOperations, GuestPorts } from './guest-operations.ts';

/** The module that programs inside import. */
const MODULE = JSON.stringify('skillcell');
/** Name under which the session's JavaScript keeps the guest from run to run. */
const NAME = "Symbol.for('skillcell.sandbox-session')";

/**
 * Does operations inside, and displays their results: results are the only way by which bytes leave a run unchanged.
 *
 * The guest is sent as the text of its functions, so that they have only their parameters and the interpreter, and nothing of their
 * modules. It has the rights of user code, and lives until the interpreter ends.
 */
function makeGuest(
  show: (shown: object) => void,
  makers: readonly ((ports: GuestPorts) => GuestOperations)[],
): (ask: number, operation: string, given: never) => Promise<void> {
  const { resolve } = process.getBuiltinModule('node:path');
  const environment = { ...process.env };
  const base = environment['WORKSPACE'] ?? process.cwd();
  const ports: GuestPorts = { environment, at: (path) => resolve(base, path) };
  const operations: GuestOperations = Object.assign({}, ...makers.map((make) => make(ports)));

  const answer = (ask: number, { said, bytes = new Uint8Array() }: GuestAnswer): void => {
    const forms = { 'application/json': JSON.stringify({ ask, ...said }), 'application/octet-stream': bytes };
    show({ [Symbol.for('Jupyter.display')]: () => forms });
  };
  return async (ask, operation, given) => {
    try {
      const operate = operations[operation];
      if (operate !== undefined) answer(ask, await operate(given));
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      answer(ask, { said: { error: { code, message } } });
    }
  };
}

/** Code that puts the guest into a session. */
export function guestCode(): string {
  const makers = [guestCommands, guestFiles].map(String).join(', ');
  return `globalThis[${NAME}] = (${String(makeGuest)})((await import(${MODULE})).display, [${makers}]); undefined`;
}

/** The value of {@link askCode} if there is no guest; then nothing was done. */
export const NO_GUEST = 'no guest';

/** Code that asks the guest. */
export function askCode(ask: number, operation: string, given: object): string {
  // JSON in a string literal: a name such as `__proto__` is then plain data.
  const text = JSON.stringify(JSON.stringify(given));
  const asked = `await globalThis[${NAME}](${ask}, ${JSON.stringify(operation)}, JSON.parse(${text}))`;
  return `globalThis[${NAME}] === undefined ? ${JSON.stringify(NO_GUEST)} : void ${asked}`;
}
