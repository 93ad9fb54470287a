import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../contracts/errors/error-registry.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { ConnectServiceOptions } from './service-client.ts';

/** One request. */
export interface ServiceRequest {
  method?: 'POST' | 'PUT';
  headers?: Record<string, string>;
  body?: string | FormData;
  signal?: AbortSignal | undefined;
  /** True for a change that must not be made twice, and has no key: a lost connection is then a failure. */
  once?: boolean;
}

/**
 * Requests a path below `/api/v1`, and again after a lost connection or while the service is away.
 *
 * @param read reads the answer; it is called again with another answer if its connection is lost
 * @throws SkillcellError with the code of the problem, or `service.unavailable`
 */
export type AskService = <T>(
  path: string,
  request: ServiceRequest,
  read: (answer: Response) => T | Promise<T>,
) => Promise<T>;

/** Pauses between tries, up to a time without any progress. */
export interface Patience {
  /** Resolves after a pause. @throws SkillcellError `service.unavailable` with the failure as its cause, once the time is over */
  pause(failure: unknown, signal?: AbortSignal): Promise<void>;
  progress(): void;
}

const [FIRST_PAUSE_MS, MOST_PAUSE_MS] = [50, 5_000];
/** A wrong address is reported soon. */
const FIRST_ANSWER_MS = 5_000;
/** A service that starts again, and the answers of a proxy before it. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);
/** The pause that the service asks for, by its answer. */
const RETRY_AFTER = new WeakMap<object, number>();

const optionsSchema = z.strictObject({
  url: z
    .string()
    .check(z.regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i, 'must be an http or https address without a user')),
  token: z.string().check(z.regex(/^[\x21-\x7e]+$/, 'must be a token of the service')),
  fetch: z.optional(z.custom<typeof globalThis.fetch>((value) => typeof value === 'function', 'must be a function')),
  retryMs: z.optional(z.number().check(z.int(), z.minimum(0), z.maximum(86_400_000))),
});
const problemSchema = z.looseObject({ code: z.string(), detail: z.string(), hint: z.string() });

/** Begins to wait for a service. */
export function startPatience(mostMs: () => number): Patience {
  let since = performance.now();
  let pauseMs = FIRST_PAUSE_MS;
  return {
    progress() {
      since = performance.now();
      pauseMs = FIRST_PAUSE_MS;
    },
    async pause(failure, signal) {
      const ms = Math.max(pauseMs, RETRY_AFTER.get(failure as object) ?? 0);
      if (performance.now() - since + ms > mostMs()) throw unavailable(failure);
      pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS);
      await sleep(ms, undefined, { signal });
    },
  };
}

/** A service, and the way to wait for it. */
export interface ServiceConnection {
  ask: AskService;
  patience(): Patience;
}

/** Makes the function for requests to one service. @throws SkillcellError `options.invalid` */
export function serviceConnection(options: ConnectServiceOptions): ServiceConnection {
  const given = checkOptions(optionsSchema, options, { action: 'connect to the service' });
  const { url, token, fetch = globalThis.fetch, retryMs = 60_000 } = given;
  const base = url.replace(/\/$/, '').replace(/\/api\/v1$/, '');
  let isKnown = false;
  const patience = (): Patience => startPatience(() => (isKnown ? retryMs : Math.min(retryMs, FIRST_ANSWER_MS)));
  const ask: AskService = async (path, { once = false, headers, signal, ...request }, read) => {
    const waiting = patience();
    for (;;) {
      try {
        const answer = await fetch(`${base}/api/v1${path}`, {
          ...request,
          headers: { authorization: `Bearer ${token}`, ...headers },
          // Another address must not get the token.
          redirect: 'manual',
          signal: signal ?? null,
        });
        isKnown = true;
        if (!answer.ok) throw await refusalOf(answer);
        return await read(answer);
      } catch (error) {
        signal?.throwIfAborted();
        if (SkillcellError.isInstance(error) && !RETRY_AFTER.has(error)) throw error;
        if (once) throw unavailable(error);
        await waiting.pause(error, signal);
      }
    }
  };
  return { ask, patience };
}

/** Reads JSON, and checks it: a proxy may have answered. */
export function jsonOf<T>(schema: z.ZodMiniType<T>): (answer: Response) => Promise<T> {
  return async (answer) => {
    const checked = schema.safeParse(parsed(await answer.text()));
    if (!checked.success) throw foreign(answer);
    return checked.data;
  };
}

/** An error about an answer that no service has given. */
export function foreign({ status, headers }: Response): SkillcellError {
  const type = headers.get('content-type') ?? 'no type';
  const message = `Cannot use the answer: it is not that of a skillcell service, got status ${status} and ${type.slice(0, 100)}.`;
  return new SkillcellError('service.unavailable', message, { hint: 'Check the address, and the proxies before it.' });
}

async function refusalOf(answer: Response): Promise<SkillcellError> {
  const checked = problemSchema.safeParse(parsed(await answer.text()));
  const error = checked.success ? problemError(answer.status, checked.data) : foreign(answer);
  const seconds = Number(answer.headers.get('retry-after') ?? 0);
  if (AWAY.has(answer.status)) RETRY_AFTER.set(error, seconds > 0 ? seconds * 1_000 : 0);
  return error;
}

/** A newer service may have a code that this version does not know. */
function problemError(status: number, { code, detail, hint }: z.infer<typeof problemSchema>): SkillcellError {
  const known = Object.hasOwn(ERROR_REGISTRY, code) ? (code as ErrorCode) : undefined;
  return new SkillcellError(known ?? (status < 500 ? 'request.invalid' : 'internal.fault'), detail, { hint });
}

function unavailable(failure: unknown): SkillcellError {
  if (SkillcellError.isInstance(failure)) return failure;
  const { message, cause } = failure as Error;
  const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
  return new SkillcellError('service.unavailable', `Cannot reach the service: ${reason}.`, {
    cause: failure,
    hint: 'Check the address, and whether the service runs.',
  });
}

/** Undefined for a text that is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
