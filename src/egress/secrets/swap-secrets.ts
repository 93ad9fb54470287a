import { readBasicCredentials, writeBasicCredentials } from './basic-credentials.ts';
import type { HeldSecret } from './held-secret.ts';

/** The value of a header with secrets, and the names of these secrets. */
export interface SwappedHeader {
  value: string;
  used: string[];
}

/**
 * Replaces placeholders in the value of one header, also inside the base64 of Basic. The caller passes only secrets that belong into this
 * header of a request to this host.
 *
 * @param headerValue latin1, as in `rawHeaders` of Node
 * @param secrets secrets that the header may carry
 */
export function swapSecrets(headerValue: string, secrets: readonly HeldSecret[]): SwappedHeader {
  const plain = swapIn(headerValue, secrets);
  if (plain.used.length > 0) return plain;
  const credentials = readBasicCredentials(headerValue);
  if (credentials === undefined) return plain;
  const { value: text, used } = swapIn(credentials.text, secrets);
  return used.length === 0 ? plain : { value: writeBasicCredentials({ ...credentials, text }), used };
}

/** Replaces all placeholders in one pass, so that a value is never searched for placeholders. */
function swapIn(text: string, secrets: readonly HeldSecret[]): SwappedHeader {
  const used = new Set<string>();
  let value = '';
  let rest = text;
  for (;;) {
    let at = Infinity;
    let first: HeldSecret | undefined;
    for (const secret of secrets) {
      const index = rest.indexOf(secret.placeholder);
      if (index >= 0 && index < at) [at, first] = [index, secret];
    }
    if (first === undefined) return { value: value + rest, used: [...used] };
    used.add(first.name);
    value += rest.slice(0, at) + Buffer.from(first.value).toString('latin1');
    rest = rest.slice(at + first.placeholder.length);
  }
}
