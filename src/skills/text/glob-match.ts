/**
 * Tells whether a pattern matches a whole text. `*` stands for any run of characters, `?` for exactly one, every other
 * character for itself. Takes time linear in text × pattern for any number of stars.
 *
 * @param pattern the code points of the pattern
 * @param text the code points of the text
 * @returns true if the whole text matches
 */
export function globMatch(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
    if (pattern[at] === '*') {
      star = at;
      resume = position;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[position])) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      position = resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
