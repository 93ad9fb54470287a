/**
 * Characters that a terminal would act on instead of showing: control characters but newline and tab, bidirectional controls, line
 * separators, and tag characters (threats C09).
 */
const ACTIVE =
  // oxlint-disable-next-line no-control-regex -- this looks for control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Escapes every character that a terminal would act on. */
export function escapeControls(text: string): string {
  return text.replace(ACTIVE, written);
}

/** The same on one line, for names and messages inside a line of skillcell. */
export function escapeLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Escapes JSON for a terminal; its value stays the same. */
export function escapeJson(json: string): string {
  return json.replace(ACTIVE, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function written(character: string): string {
  if (character === '\r') return '\\r';
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
