import type { Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import { compareCodePoints } from '../../src/skills/text/text.ts';

/** Returns the sorted set of the codes of diagnostics. */
export function sortedCodes(diagnostics: Diagnostic[]): string[] {
  return [...new Set(diagnostics.map(({ code }) => code))].toSorted(compareCodePoints);
}
