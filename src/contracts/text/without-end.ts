/** A text without the characters of one kind at its end. An expression would look at each run of them from each of its characters on. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
