/** Removes a repeated character from the end. A regular expression would need quadratic time for long runs of the character. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
