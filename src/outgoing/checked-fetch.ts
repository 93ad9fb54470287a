import type { Dispatcher } from 'undici';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { boundedBody } from './bounded-body.ts';
import { openConnections } from './checked-connections.ts';
import { outgoingRefused, outgoingUnavailable, shownUrl } from './outgoing-refused.ts';
import type { OutgoingRules } from './outgoing-rules.ts';
import { outgoingUrl } from './outgoing-url.ts';
import { type RequestClock, startRequestClock } from './request-clock.ts';

/** One request, and the limits of its answer. */
export interface OutgoingRequest extends OutgoingRules {
  /** @default 'GET' */
  method?: string | undefined;
  /** Sent only to the first origin, not to other origins after a redirect. */
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** Most received bytes of the answer. @default 10 MiB */
  maxBytes?: number | undefined;
  /** Most inflated bytes of the answer. @default `maxBytes` */
  maxInflatedBytes?: number | undefined;
  /** True: the answer is never inflated, whatever its encoding. */
  asItArrives?: boolean | undefined;
  /** Deadline of the request with all redirects and the whole answer. @default 30,000 */
  timeoutMs?: number | undefined;
  /** Allowed media types of an answer with status 200. Without it, all types are allowed. */
  types?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
  /** Kept connections with the same rules. Without it, one is opened and closed. */
  connections?: Dispatcher | undefined;
}

/** An answer. The caller must read or discard its body. */
export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  /** Final address after redirects. */
  url: URL;
  /** Can be read once. Throws `source.refused` over a limit, `store.unavailable` if it breaks off. */
  body: AsyncIterable<Buffer>;
  /** Ends the answer without reading its body. */
  discard(): void;
}

const MIB = 1024 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Requests an untrusted address. This is the only way out to such an address: host addresses, redirects and answer are checked.
 *
 * @throws SkillcellError `source.refused` for a refused address or answer, `store.unavailable` if there is no answer; the reason of the abort
 */
export async function checkedFetch(text: string, request: OutgoingRequest = {}): Promise<OutgoingAnswer> {
  const { method = 'GET', without = [], signal } = request;
  const first = await outgoingUrl(text, request);
  const limitMs = without.includes('time') ? 2 ** 31 - 1 : (request.timeoutMs ?? 30_000);
  const clock = startRequestClock(limitMs, shownUrl(first), signal);
  const own = request.connections === undefined ? await openConnections(request) : undefined;
  const connections = request.connections ?? own;
  try {
    let url = first;
    for (let redirects = 0; ; redirects += 1) {
      const headers = url.origin === first.origin ? request.headers : undefined;
      const answer = await ask(url, { ...request, headers }, clock, connections as Dispatcher);
      const location = REDIRECTS.has(answer.statusCode) ? answer.headers['location'] : undefined;
      if (location === undefined) return answerOf(answer, url, request, clock, own);
      end(answer);
      if (method !== 'GET') throw outgoingRefused('it redirects a request other than GET', shownUrl(url));
      if (redirects === MAX_REDIRECTS && !without.includes('redirects'))
        throw outgoingRefused(`it redirects more than ${MAX_REDIRECTS} times`, shownUrl(first));
      const next = await outgoingUrl(String(location), request, url);
      if (url.protocol === 'https:' && next.protocol !== 'https:' && !without.includes('downgrade'))
        throw outgoingRefused('it redirects from https to http', shownUrl(next));
      url = next;
    }
  } catch (error) {
    clock.stop();
    await own?.destroy();
    throw error;
  }
}

async function ask(
  url: URL,
  { method = 'GET', headers, body, asItArrives }: OutgoingRequest,
  { signal }: RequestClock,
  connections: Dispatcher,
): Promise<Dispatcher.ResponseData> {
  try {
    return await connections.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { 'user-agent': 'skillcell', 'accept-encoding': asItArrives === true ? 'identity' : 'gzip', ...headers },
      body: body ?? null,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (SkillcellError.isInstance(error)) throw error;
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'UND_ERR_HEADERS_OVERFLOW') throw outgoingRefused('it sends headers that are too long', shownUrl(url));
    const known = name === 'HTTPParserError' ? 'its answer is not HTTP' : REASONS[code ?? ''];
    throw outgoingUnavailable(known ?? `it cannot be reached (${code ?? name})`, shownUrl(url), error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it broke off the connection',
  UND_ERR_SOCKET: 'it broke off the connection',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
};

function answerOf(
  answer: Dispatcher.ResponseData,
  url: URL,
  { types, asItArrives, maxBytes = 10 * MIB, maxInflatedBytes = maxBytes, without = [] }: OutgoingRequest,
  clock: RequestClock,
  own: Dispatcher | undefined,
): OutgoingAnswer {
  const { statusCode: status } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const each of [value ?? []].flat()) headers.append(name, each);
  const shown = shownUrl(url);
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const encoding =
    asItArrives === true ? 'identity' : (headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity');
  const leave = (): void => {
    clock.stop();
    end(answer);
    void own?.destroy();
  };
  const fault =
    status === 200 && types !== undefined && !types.includes(type) && !without.includes('type')
      ? [`it answers with another type than ${types.join(' or ')}`, type === '' ? 'no type' : type]
      : ['identity', 'gzip', 'x-gzip'].includes(encoding)
        ? undefined
        : ['it answers in an unrequested encoding', encoding];
  if (fault !== undefined) {
    leave();
    throw outgoingRefused(fault[0] ?? '', `${fault[1]?.slice(0, 60)} of ${shown}`);
  }
  headers.delete('content-encoding');
  if (encoding !== 'identity') headers.delete('content-length');
  const body = boundedBody(answer.body, {
    encoding,
    maxBytes: without.includes('bytes') ? Infinity : maxBytes,
    maxInflatedBytes: without.includes('inflated') ? Infinity : maxInflatedBytes,
    clock,
    shown,
  });
  return { status, headers, url, body: own === undefined ? body : closing(body, own), discard: leave };
}

/** Drops the rest of the body and its errors. */
function end({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined).destroy();
}

async function* closing(body: AsyncGenerator<Buffer>, own: Dispatcher): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } finally {
    await own.destroy();
  }
}
