/** Whether the first word of a text holds one of the places. */
export function firstWordHas(text: string, places: RegExp): boolean {
  const [first] = text.matchAll(places);
  return first !== undefined && !/[\s;&|"']/.test(text.slice(0, first.index));
}

/** Whether a word of the first command of a text is one of the places. */
export function namesInCommand(text: string, places: RegExp): boolean {
  const end = text.search(/[;&|]/);
  const command = end < 0 ? text : text.slice(0, end);
  return [...command.matchAll(places)].some(({ index }) => /^$|[\s="'`]/.test(command[index - 1] ?? ''));
}

/** Whether the last word of a command, its target, is one of the places. */
export function isLastWord(text: string, places: RegExp): boolean {
  let end = 0;
  for (const { index, 0: place } of text.matchAll(places)) {
    if (index < end) continue;
    end = index + place.length;
    while (end < text.length && !/[\s;&|]/.test(text[end] ?? '')) end += 1;
    const next = text.slice(end).search(/[^\s]/) < 0 ? '' : (text.slice(end, end + 2).trim()[0] ?? text[end]);
    // A closing quote or backtick belongs to the word.
    if (next === '' || /[;&|#`)]/.test(next ?? '') || /[`)]$/.test(text.slice(index, end))) return true;
  }
  return false;
}

/** Whether a place is in a quoted text, followed by an argument or a method that writes. */
export function isWritten(text: string, places: RegExp): boolean {
  let closing = -1;
  for (const { index, 0: place } of text.matchAll(places)) {
    if (index < closing) continue;
    const behind = index + place.length;
    const quote = text.slice(behind).search(/["'`]/);
    if (quote < 0) return false;
    closing = behind + quote;
    if (/^["'`]\s?\)?(?:\s?,|\.(?:write|open|append))/.test(text.slice(closing, closing + 12))) return true;
  }
  return false;
}
