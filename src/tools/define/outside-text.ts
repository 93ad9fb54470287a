import { escapeMarkers } from '../../skills/render/escape-markers.ts';
import { removeHidden } from '../../skills/text/hidden-characters.ts';
import { sanitizeErrorText } from '../../models/redact.ts';

/** The most characters in the description of a foreign tool. */
export const OUTSIDE_DESCRIPTION = 2_000;

/** One line without invisible characters, and without look-alikes of our markers. */
export function plainLine(text: string): string {
  const seen = removeHidden(text.slice(0, 4 * OUTSIDE_DESCRIPTION)).replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ');
  return escapeMarkers(seen.trim()).text;
}

/** Cleans the texts for people in a schema. All other values are compared with data, so they stay. */
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

/** Cleans a foreign message: one line, no path, no secret, no look-alike of our markers. */
export function plainMessage(given: unknown, secrets: readonly string[] = []): string {
  const text = typeof given === 'string' ? given : 'it gave no reason';
  return plainLine(sanitizeErrorText(text, secrets)) || 'it gave no reason';
}
