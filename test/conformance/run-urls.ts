import { normalizeUrl } from '../../src/skills/parse/normalize-url.ts';
import { sortedCodes } from './sorted-codes.ts';

/** Normalizes one URL. */
export function runUrls(input: unknown): Record<string, unknown> {
  const { url, diagnostics } = normalizeUrl((input as { url: string }).url);
  return { url, codes: sortedCodes(diagnostics) };
}
