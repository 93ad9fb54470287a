/** Characters that are invisible or change the look of the rest of a line, and that JSON does not escape. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const SHOWN_CHARACTERS = 100;

/** The first 100 characters of a text in quotes, with escapes for invisible characters. */
export function quotedText(text: string): string {
  return visibleText(JSON.stringify(text.slice(0, SHOWN_CHARACTERS)));
}

/** A text with escapes for invisible characters. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
