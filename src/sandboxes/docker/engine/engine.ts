import { existsSync } from 'node:fs';
import type Docker from 'dockerode';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import { activeContext, contextAddress } from './docker-context.ts';
import { DEFAULT_SOCKET, engineAddress } from './engine-address.ts';
import type { EngineOptions } from './engine-options.ts';

/** How long the engine may take for an ordinary call, in milliseconds. */
export const CALL_MS = 8_000;

/** Whether somebody names an engine, or one has left its socket at the usual place: one that is none of both is not dead. */
export function hasEngine({ host }: EngineOptions): boolean {
  return (
    Boolean(host || process.env['DOCKER_HOST']) ||
    activeContext(process.env) !== undefined ||
    existsSync(DEFAULT_SOCKET)
  );
}

/**
 * A client of the engine. Makes no connection yet; the client itself is loaded only where an engine may be.
 *
 * @throws SkillcellError `engine.unavailable` when there is no socket to talk to, or the address is none
 */
export async function connectEngine({ host }: EngineOptions = {}): Promise<Docker> {
  const { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH } = process.env;
  const named = host || DOCKER_HOST;
  const context = named ? undefined : activeContext(process.env);
  const address =
    context === undefined
      ? engineAddress(named, { DOCKER_TLS_VERIFY, DOCKER_CERT_PATH })
      : contextAddress(context, process.env);
  if (address.socketPath !== undefined && !existsSync(address.socketPath)) {
    throw new SkillcellError(
      'engine.unavailable',
      `Cannot reach the Docker engine: there is no socket, got ${address.socketPath}${context === undefined ? '' : ` of the Docker context ${quotedText(context)}`}.`,
    );
  }
  const { default: Client } = await import('dockerode');
  try {
    // An undefined host is a value too: it keeps the client from the environment's.
    return new Client(address);
  } catch (cause) {
    // The client reads the environment by itself as well, and stumbles where they are malformed.
    throw new SkillcellError('engine.unavailable', `Cannot reach the Docker engine: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/**
 * Waits for a call to the engine, but not for ever: an engine that hangs answers nothing and closes nothing.
 *
 * @throws SkillcellError `engine.unavailable` when nothing answers, `engine.failed` when the engine refuses
 */
export async function callEngine<T>(
  what: string,
  call: (signal: AbortSignal) => Promise<T>,
  limitMs: number = CALL_MS,
  signal?: AbortSignal,
): Promise<T> {
  // A signal that only an overdue call sees: what the call has given, such as a stream, lives on after it.
  const deadline = new AbortController();
  try {
    return await withinDeadline(
      call(signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal])),
      {
        limitMs,
        signal,
        overdue() {
          deadline.abort();
          throw new Error(`no answer within ${limitMs / 1000} s`);
        },
      },
    );
  } catch (cause) {
    throw engineError(what, cause as EngineFault);
  }
}

/** Calls of the client that take a signal, which its types do not know. Without one a call that hangs keeps the process. */
export function abortable(engine: Docker): AbortableEngine {
  return engine;
}

interface AbortableEngine {
  info(options: { abortSignal: AbortSignal }): Promise<unknown>;
  ping(options: { abortSignal: AbortSignal }): Promise<unknown>;
  version(options: { abortSignal: AbortSignal }): Promise<unknown>;
}

/** What the client throws: the engine's status, or the socket's code. */
interface EngineFault extends Error {
  statusCode?: number;
  code?: string;
}

function engineError(what: string, cause: EngineFault): SkillcellError {
  if (SkillcellError.isInstance(cause)) return cause;
  const said = cause.message.replace(/\s+/g, ' ').slice(0, 200);
  if (cause.statusCode === undefined) {
    return new SkillcellError('engine.unavailable', `Cannot ${what}: the Docker engine does not answer (${said}).`, {
      cause,
    });
  }
  return new SkillcellError('engine.failed', `Cannot ${what}: the Docker engine says ${said}.`, { cause });
}

/** Whether an error says that the thing is not there, or on its way out: for a removal both are success. */
export function isGone(error: unknown): boolean {
  const status = ((error as Error).cause as EngineFault | undefined)?.statusCode ?? (error as EngineFault).statusCode;
  return status === 404 || status === 409;
}
