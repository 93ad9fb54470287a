import { readBasicCredentials } from './basic-credentials.ts';
import type { HeldSecret } from './held-secret.ts';

/** Names of the secrets whose placeholders a part of a request holds, also inside the base64 of Basic. */
export function namesIn(text: string, secrets: readonly HeldSecret[]): string[] {
  const decoded = readBasicCredentials(text)?.text ?? '';
  return secrets
    .filter(({ placeholder }) => text.includes(placeholder) || decoded.includes(placeholder))
    .map(({ name }) => name);
}
