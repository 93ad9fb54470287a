import type { ServerResponse } from 'node:http';
import { DENIAL_REASONS, type DenialReason } from '../../contracts/network/denial-reasons.ts';

/** A request that is denied, for the text of its answer. */
export interface DeniedRequest {
  reason: DenialReason;
  /** The denied thing: a host, a method, a path. */
  what: string;
  /** Places of the job's rules, and its registries. */
  allowed: readonly string[];
}

/** Policy is never a status of 5xx: clients would try again. */
const STATUSES: Partial<Record<DenialReason, number>> = {
  'authority-mismatch': 421,
  quota: 429,
  'response-unscannable': 502,
};
const MOST_NAMED = 20;
/** Characters that a status phrase or a line of text may have. */
const UNPRINTABLE = /[^\x20-\x7e]/g;

/** Answers a denied request so that a model can read why, in the body as in the status phrase, which some clients print alone. */
export function answerDenied(response: ServerResponse, { reason, what, allowed }: DeniedRequest): number {
  const status = STATUSES[reason] ?? 403;
  const shown = printable(what);
  const phrase = `Denied by policy: ${reason}${shown === '' ? '' : `, ${shown}`}`;
  const more = allowed.length > MOST_NAMED ? `, and ${allowed.length - MOST_NAMED} more` : '';
  const may = allowed.length === 0 ? 'nothing' : `${allowed.slice(0, MOST_NAMED).join(', ')}${more}`;
  const text =
    `skillcell: ${reason}: ${DENIAL_REASONS[reason]}${shown === '' ? '' : `, got ${shown}`}. ` +
    `This job may use: ${may}. This is a policy, not a fault: trying again does not help.\n`;
  if (response.headersSent) {
    response.destroy();
    return status;
  }
  response.writeHead(status, phrase, [
    ...['content-type', 'text/plain; charset=utf-8', 'content-length', `${Buffer.byteLength(text)}`],
    ...['x-skillcell-denied', reason],
  ]);
  response.end(text);
  return status;
}

/** Answers a request whose host gave no answer. */
export function answerFault(
  response: ServerResponse,
  fault: 'upstream-unreachable' | 'upstream-tls',
  host: string,
): number {
  const why = fault === 'upstream-tls' ? 'its certificate or its TLS is refused' : 'it cannot be reached';
  const text = `skillcell: ${fault}: no answer from ${printable(host)}, ${why}.\n`;
  response.writeHead(502, `Bad gateway: ${fault}`, [
    ...['content-type', 'text/plain; charset=utf-8', 'content-length', `${Buffer.byteLength(text)}`],
  ]);
  response.end(text);
  return 502;
}

/** A text of the program on one line, shortened. */
export function printable(text: string): string {
  const line = text.replaceAll(UNPRINTABLE, '?');
  return line.length > 200 ? `${line.slice(0, 199)}…`.replace('…', '~') : line;
}
