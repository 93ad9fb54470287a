import { existsSync } from 'node:fs';
import type Docker from 'dockerode';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import { activeContext, contextAddress } from './docker-context.ts';
import { DEFAULT_SOCKET, engineAddress } from './engine-address.ts';
import type { EngineOptions } from './engine-options.ts';

/** Default deadline of an engine call, in milliseconds. */
export const CALL_MS = 8_000;

/** True if an engine is configured or its default socket exists. Otherwise a missing answer is not a fault. */
export function hasEngine({ host }: EngineOptions): boolean {
  return (
    Boolean(host || process.env['DOCKER_HOST']) ||
    activeContext(process.env) !== undefined ||
    existsSync(DEFAULT_SOCKET)
  );
}

/**
 * Creates a client of the engine without connecting. The client library is loaded only if the address looks usable.
 *
 * @throws SkillcellError `engine.unavailable` if the socket does not exist or the address is invalid
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
      `Cannot reach the Docker engine: the socket does not exist, got ${address.socketPath}${context === undefined ? '' : ` of the Docker context ${quotedText(context)}`}.`,
    );
  }
  const { default: Client } = await import('dockerode');
  try {
    // The explicit undefined host keeps the client from reading DOCKER_HOST.
    return new Client(address);
  } catch (cause) {
    // The client also reads environment variables itself, and throws if they are malformed.
    throw new SkillcellError('engine.unavailable', `Cannot reach the Docker engine: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/**
 * Calls the engine with a deadline, because a hanging engine neither answers nor closes.
 *
 * @param action named by error messages, such as "start a container"
 * @throws SkillcellError `engine.unavailable` without an answer, `engine.failed` if the engine refuses
 */
export async function callEngine<T>(
  action: string,
  call: (signal: AbortSignal) => Promise<T>,
  limitMs: number = CALL_MS,
  signal?: AbortSignal,
): Promise<T> {
  // Aborts only an overdue call: a result such as a stream must outlive the call.
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
    throw engineError(action, cause as EngineFault);
  }
}

/** Client calls that accept a signal, which the types lack. Without it, a hanging call keeps the process alive. */
export function abortable(engine: Docker): AbortableEngine {
  return engine;
}

interface AbortableEngine {
  info(options: { abortSignal: AbortSignal }): Promise<unknown>;
  ping(options: { abortSignal: AbortSignal }): Promise<unknown>;
  version(options: { abortSignal: AbortSignal }): Promise<unknown>;
}

/** Error of the client, with the status of the engine or the code of the socket. */
interface EngineFault extends Error {
  statusCode?: number;
  code?: string;
}

function engineError(action: string, cause: EngineFault): SkillcellError {
  if (SkillcellError.isInstance(cause)) return cause;
  const said = cause.message.replace(/\s+/g, ' ').slice(0, 200);
  if (cause.statusCode === undefined) {
    return new SkillcellError('engine.unavailable', `Cannot ${action}: the Docker engine does not answer (${said}).`, {
      cause,
    });
  }
  return new SkillcellError('engine.failed', `Cannot ${action}: the Docker engine says ${said}.`, { cause });
}

/** True if the object does not exist or is being removed: for a removal, both are success. */
export function isGone(error: unknown): boolean {
  const status = ((error as Error).cause as EngineFault | undefined)?.statusCode ?? (error as EngineFault).statusCode;
  return status === 404 || status === 409;
}
