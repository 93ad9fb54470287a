import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { CREDENTIAL_FORMS, type CredentialForm, isPlaceholder } from './credential-forms.ts';

const LETTER = /[A-Za-z0-9]/;

/** Finds secrets by their forms. What it says of one is whose it is, never the secret. */
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

/** A form that is longer than this is no secret, but a text without blanks. */
const LONGEST = 4_000;

function endOf(text: string, from: number, { alphabet }: CredentialForm): number {
  let end = from;
  while (end < text.length && end - from < LONGEST && alphabet.test(text[end] ?? '')) end += 1;
  return end;
}

function isSecret(text: string, at: number, end: number, { begins, length, exact }: CredentialForm): boolean {
  const behind = end - at - begins.length;
  if (behind < length || (exact === true && behind > length)) return false;
  // In the middle of a word it is a part of something else; a bot's name is digits, which belong to it.
  if (LETTER.test(begins[0] ?? '') && LETTER.test(text[at - 1] ?? '')) return false;
  if (begins === ':AA' && !/\d/.test(text[at - 1] ?? '')) return false;
  const secret = text.slice(at, end);
  if (begins === 'eyJ' && secret.split('.').length !== 3) return false;
  return !isPlaceholder(secret);
}

/** What stands between `//` and the next character that no name and password has. */
const USER = /^[\w.%-]{1,64}:([^\s:@/"'`<>{}$()[\]*]{6,100})@[\w.-]/;
/** As much of an address as a name and a password have. */
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
