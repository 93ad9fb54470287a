import { existsSync } from 'node:fs';
import type Docker from 'dockerode';
import { SkillcellError } from '../../contracts/skillcell-error.ts';

/** How long the engine may take for an ordinary call, in milliseconds. */
export const CALL_MS = 8_000;

/** Options of {@link connectEngine}. */
export interface EngineOptions {
  /** `unix:///path`, `tcp://host:port` or `http://host:port`. Default: `DOCKER_HOST`, else the local socket. */
  host?: string;
}

const DEFAULT_SOCKET = '/var/run/docker.sock';

/**
 * A client of the engine. Makes no connection yet; the client itself is loaded only where an engine may be.
 *
 * @throws SkillcellError `engine.unavailable` when there is no socket to talk to
 */
export async function connectEngine({ host }: EngineOptions = {}): Promise<Docker> {
  const named = host ?? process.env['DOCKER_HOST'];
  const socket = named === undefined || named === '' ? DEFAULT_SOCKET : /^unix:\/\/(.+)$/.exec(named)?.[1];
  if (socket !== undefined && !existsSync(socket)) {
    throw new SkillcellError(
      'engine.unavailable',
      `Cannot reach the Docker engine: there is no socket, got ${socket}.`,
    );
  }
  const { default: Client } = await import('dockerode');
  if (socket !== undefined) return new Client({ socketPath: socket });
  let url: URL;
  try {
    url = new URL((named ?? '').replace(/^tcp:/, 'http:'));
  } catch (cause) {
    throw new SkillcellError(
      'engine.unavailable',
      `Cannot reach the Docker engine: its address is no URL, got ${named ?? ''}.`,
      { cause },
    );
  }
  return new Client({
    protocol: url.protocol === 'https:' ? 'https' : 'http',
    host: url.hostname,
    port: url.port === '' ? 2375 : Number(url.port),
  });
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
): Promise<T> {
  const deadline = AbortSignal.timeout(limitMs);
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  });
  const called = call(deadline);
  // When the deadline wins, the call's own later failure is of no interest any more.
  called.catch(() => undefined);
  try {
    return await Promise.race([called, overdue]);
  } catch (cause) {
    throw engineError(what, cause as EngineFault);
  } finally {
    clearTimeout(timer);
  }
}

/** What the client throws: the engine's status, or the socket's code. */
interface EngineFault extends Error {
  statusCode?: number;
  code?: string;
}

function engineError(what: string, cause: EngineFault): SkillcellError {
  if (SkillcellError.isInstance(cause)) return cause;
  const said = cause.message.replace(/\s+/g, ' ').slice(0, 500);
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
