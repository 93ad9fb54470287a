import { escapeMarkers } from '../../skills/render/escape-markers.ts';
import { removeHidden } from '../../skills/text/hidden-characters.ts';
import { sanitizeErrorText } from '../../models/redact.ts';

/** Characters that a tool of somebody else may have for its description. */
export const OUTSIDE_DESCRIPTION = 2_000;

/** One line without what a reader does not see, and without our markers. */
export function plainLine(text: string): string {
  const seen = removeHidden(text.slice(0, 4 * OUTSIDE_DESCRIPTION)).replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ');
  return escapeMarkers(seen.trim()).text;
}

/** The same for the texts for people in a schema; what else stands in it is compared with, and stays. */
export function plainTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      typeof child === 'string' && TEXTS.has(key) ? plainLine(child) : plainTexts(child),
    ]),
  );
}

const TEXTS = new Set(['description', 'title', '$comment']);

/** What a message from outside tells: one line, no path, no secret, nothing that a prompt could take for ours. */
export function plainMessage(given: unknown, secrets: readonly string[] = []): string {
  const text = typeof given === 'string' ? given : 'it gave no reason';
  return plainLine(sanitizeErrorText(text, secrets)) || 'it gave no reason';
}
