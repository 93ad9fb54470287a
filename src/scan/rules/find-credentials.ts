import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { CREDENTIAL_PATTERNS, isPlaceholder } from './credential-patterns.ts';

/** Finds secrets by their forms. What it says of one is whose it is, never the secret. */
export function findCredentials({ text, holds }: ScannedFile): FoundInFile[] {
  const found: FoundInFile[] = [];
  for (const { name, word, pattern } of CREDENTIAL_PATTERNS) {
    if (!holds(word.toLowerCase())) continue;
    for (const { index, 0: secret } of text.matchAll(pattern))
      if (!isPlaceholder(secret))
        found.push({ code: 'scan.credential', message: `This looks like ${name}.`, at: index });
  }
  return found;
}
