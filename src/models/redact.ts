import { withoutEnd } from '../contracts/text/without-end.ts';
import { cutTo } from '../skills/text/text.ts';

/** The most characters of an error text that enters a sandbox. */
const ERROR_CHARACTERS = 500;
/** Replacement for a secret. */
const REDACTED = '[redacted]';

/**
 * Removes secrets from a text, in the forms in which services and libraries echo them.
 *
 * @param text any text
 * @param secrets exact values; empty ones are ignored
 * @returns the text with `[redacted]` for each occurrence
 */
export function redact(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const secret of secrets) {
    if (secret === '') continue;
    for (const form of writtenForms(secret)) redacted = redacted.replaceAll(form, () => REDACTED);
  }
  return redacted;
}

function writtenForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Some writers leave out the padding of base64, and it is not secret.
  const encoded = [withoutEnd(bytes.toString('base64'), '='), bytes.toString('base64url')];
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...encoded];
}

/** Beginning of an absolute path of POSIX or Windows, or of a file address, within a run of path characters. A group holds the text before it. */
const HOST_PATH = /(?:(^|[^\w.:/~-])[/\\]|(^|\W)[A-Za-z]:[\\/]|file:\/\/|~\/)./;
/** Characters that a path may hold outside quotes: all but blanks, quotes, brackets, commas and semicolons. */
const PATH_RUN = /[^\s'"`<>()[\]{},;]+/g;
/** A path in quotes, where blanks belong to it. */
const QUOTED_PATH =
  /'(?:file:\/\/|[/\\]|[A-Za-z]:[\\/]|~\/)[^'"`]*'|"(?:file:\/\/|[/\\]|[A-Za-z]:[\\/]|~\/)[^'"`]*"|`(?:file:\/\/|[/\\]|[A-Za-z]:[\\/]|~\/)[^'"`]*`/g;
const BEARER = /\bBearer\s+[\w.~+/=-]{6,}/g;
const CREDENTIAL = /\b(?:sk-|ghp_|github_pat_|xox[abp]-|AKIA).{6}/;
const CREDENTIAL_RUN = /[\w.~+/=-]+/g;

/**
 * Prepares an error text for a sandbox: only its first line, without paths of the host and without look-alikes of
 * credentials, at most 500 characters. A longer text is cut and ends in `…`.
 *
 * @param text an error message of the host
 * @param secrets exact values that must never enter the sandbox
 * @returns the text for the sandbox
 */
export function sanitizeErrorText(text: string, secrets: readonly string[] = []): string {
  const [firstLine = ''] = redact(text, secrets).split(/[\r\n\u2028\u2029]/, 1);
  const safe = firstLine
    .replace(BEARER, REDACTED)
    .replace(CREDENTIAL_RUN, (run) => cutFrom(run, CREDENTIAL, REDACTED))
    .replace(QUOTED_PATH, (text) => `${text[0]}[path]${text[0]}`)
    .replace(PATH_RUN, (run) => cutFrom(run, HOST_PATH, '[path]'));
  return cutTo(safe, ERROR_CHARACTERS);
}

/** Replaces a run from the match of the pattern to its end with a word. */
function cutFrom(run: string, beginning: RegExp, word: string): string {
  const match = beginning.exec(run);
  return match === null ? run : run.slice(0, match.index + (match[1] ?? match[2] ?? '').length) + word;
}
