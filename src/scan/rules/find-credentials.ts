import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { CREDENTIAL_FORMS, type CredentialForm, isPlaceholder } from './credential-forms.ts';

const LETTER = /[A-Za-z0-9]/;

/** Finds secrets by their forms. A message names the issuer, never the secret. */
export function* findCredentials({ text, holds }: ScannedFile): Generator<FoundInFile> {
  for (const form of CREDENTIAL_FORMS) {
    const { begins, name } = form;
    if (!holds(begins.toLowerCase())) continue;
    let end = 0;
    for (let at = text.indexOf(begins); at >= 0; at = text.indexOf(begins, Math.max(end, at + begins.length))) {
      end = endOf(text, at + begins.length, form);
      if (isSecret(text, at, end, form)) yield { code: 'scan.credential', message: `This looks like ${name}.`, at };
    }
  }
  if (holds('://') && holds('@')) yield* addresses(text);
}

/** A longer run is not a secret, but a text without blanks. */
const LONGEST = 4_000;

function endOf(text: string, from: number, { alphabet }: CredentialForm): number {
  let end = from;
  while (end < text.length && end - from < LONGEST && alphabet.test(text[end] ?? '')) end += 1;
  return end;
}

function isSecret(text: string, at: number, end: number, { begins, length, exact }: CredentialForm): boolean {
  const behind = end - at - begins.length;
  if (behind < length || (exact === true && behind > length)) return false;
  // Inside a word it is part of something else. A bot token is an exception: digits come before its `:AA`.
  if (LETTER.test(begins[0] ?? '') && LETTER.test(text[at - 1] ?? '')) return false;
  if (begins === ':AA' && !/\d/.test(text[at - 1] ?? '')) return false;
  const secret = text.slice(at, end);
  if (begins === 'eyJ' && secret.split('.').length !== 3) return false;
  return !isPlaceholder(secret);
}

/** A name and a password after `//`, up to a character that cannot be part of them. */
const USER = /^[\w.%-]{1,64}:([^\s:@/"'`<>{}$()[\]*]{6,100})@[\w.-]/;
/** Length of an address that is searched for a name and a password. */
const ADDRESS = 200;

/** Addresses that hold a name and a password. */
function* addresses(text: string): Generator<FoundInFile> {
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    const [, password] = USER.exec(text.slice(at + 3, at + 3 + ADDRESS)) ?? [];
    if (password === undefined || isPlaceholder(`${password}${password.length < 16 ? password : ''}`)) continue;
    let start = at;
    while (start > 0 && at - start < 20 && /[a-z0-9+]/.test(text[start - 1] ?? '')) start -= 1;
    yield { code: 'scan.credential', message: 'This looks like a name with a password in an address.', at: start };
  }
}
