import { withoutEnd } from '../contracts/text/without-end.ts';
import { cutTo } from '../skills/text/text.ts';

/** Of an error text that crosses into a sandbox. */
const ERROR_CHARACTERS = 500;
/** What stands where a secret stood. */
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
  // The padding of base64 is left out by some, and no secret.
  const encoded = [withoutEnd(bytes.toString('base64'), '='), bytes.toString('base64url')];
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...encoded];
}

/** Absolute paths of POSIX and Windows and file addresses begin so, in a run of what a path may hold; what stands before is a group. */
const HOST_PATH = /(?:(^|[^\w.:/~-])[/\\]|(^|\W)[A-Za-z]:[\\/]|file:\/\/|~\/)./;
/** Up to the next blank, quote or bracket. */
const PATH_RUN = /[^\s'"`<>()[\]{},;]+/g;
/** The same between quotes, where blanks belong to the path. */
const QUOTED_PATH =
  /'(?:file:\/\/|[/\\]|[A-Za-z]:[\\/]|~\/)[^'"`]*'|"(?:file:\/\/|[/\\]|[A-Za-z]:[\\/]|~\/)[^'"`]*"|`(?:file:\/\/|[/\\]|[A-Za-z]:[\\/]|~\/)[^'"`]*`/g;
const BEARER = /\bBearer\s+[\w.~+/=-]{6,}/g;
const CREDENTIAL = /\b(?:sk-|ghp_|github_pat_|xox[abp]-|AKIA).{6}/;
const CREDENTIAL_RUN = /[\w.~+/=-]+/g;

/**
 * Makes an error text fit to cross into a sandbox: its first line only, without paths of the host and without what
 * looks like a credential, at most 500 characters: what is longer ends in `…`.
 *
 * @param text an error message of the host
 * @param secrets exact values that never may cross
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

/** Puts a word in the place of what begins as the pattern says, up to the end of the run. */
function cutFrom(run: string, beginning: RegExp, word: string): string {
  const match = beginning.exec(run);
  return match === null ? run : run.slice(0, match.index + (match[1] ?? match[2] ?? '').length) + word;
}
