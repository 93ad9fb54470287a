/** The `skillcell` module loads this file at its first import, so programs that do not import it hold none of this code. */
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMIT_CEILINGS } from '../../../src/contracts/jobs/limits.ts';
import type { HeldProgram } from './bridge-registry.ts';
import { createProgramCalls, ToolCallError, type ProgramCalls } from './program-calls.ts';
import { connectSupervisor, type SupervisorLink } from './supervisor-link.ts';

const { stringify } = JSON;

/** The functions that the `skillcell` module uses. */
export interface Bridge {
  ToolCallError: typeof ToolCallError;
  /** Address of the folder whose modules programs may not find by name. */
  modules: string;
  call: ProgramCalls['call'];
  setValue(given: unknown): void;
  readSkillFile(id: string, path: string): Buffer;
  /** Shows a value; in a session only. */
  display?(value: unknown, mediaType?: string): void;
}

/** Handlers of the messages that only a session gets. */
export interface SessionHandlers {
  message(message: unknown): void;
  closed(): void;
  setValue(json: string | number): void;
}

/**
 * Connects a held program to its supervisor.
 *
 * @param modules address of the folder of modules for programs
 * @param session handlers of a session; without them the program's value goes to the supervisor
 */
export function connectBridge(
  held: HeldProgram,
  modules: string,
  session?: SessionHandlers,
): { bridge: Bridge; link: SupervisorLink } {
  const link = connectSupervisor(held, {
    message: (message) => session?.message(message),
    answer: (bytes) => calls.settle(bytes),
    bytes: (part, bytes) => calls.takeBytes(part, bytes),
    closed() {
      calls.close();
      session?.closed();
    },
  });
  const calls = createProgramCalls(link);
  if (session === undefined) link.stayAlive(false);
  const tell = session?.setValue ?? ((json) => held.tellValue({ json }));
  const bridge: Bridge = {
    ToolCallError,
    modules,
    call: calls.call,
    setValue(given) {
      const json = stringify(given) as string | undefined;
      if (json === undefined) throw new TypeError('Cannot set the value: it has no JSON form.');
      const bytes = Buffer.byteLength(json);
      held.isValueSet = true;
      tell(bytes > LIMIT_CEILINGS.valueBytes ? bytes : json);
    },
    readSkillFile(id, path) {
      const parts = [...id.split('.', 2), ...path.split('/')];
      if (parts.some((part) => part === '' || part === '.' || part === '..')) {
        throw new Error(`Cannot read a skill file: no such file, got ${id} ${path}.`);
      }
      return readFileSync(join(held.skills, ...parts));
    },
  };
  return { bridge, link };
}
