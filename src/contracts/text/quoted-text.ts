/** Characters that a line does not show, or that change how the rest of it looks, and that JSON leaves as they are. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const SHOWN_CHARACTERS = 100;

/** The beginning of a text in quotes, as far as a message shows it, with escapes for what a reader would not see. */
export function quotedText(text: string): string {
  return visibleText(JSON.stringify(text.slice(0, SHOWN_CHARACTERS)));
}

/** A text with escapes for what a reader would not see. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
