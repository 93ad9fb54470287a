/** Number of characters before a word that are checked on its line. */
const REACH = 200;
/** The end of a command, the beginning of a group, a substitution or a text with one, or the beginning of a value. */
const BEHIND_MARK = /(?:[;&|(){}`"'@!]|:\s)$/;
/** Bullets, numbers, prompts, symbols and blanks. */
const AT_LINE_START = /^[^\p{L}_]*$/u;
/** Words that a command follows, with options and variables between. */
const BEFORE: ReadonlySet<string> = new Set(
  'sudo doas env nohup exec -exec -execdir -c -command command builtin time nice setsid stdbuf busybox xargs then do else if while until run execute type use using try with by via and or'.split(
    ' ',
  ),
);
const VARIABLE = /^["'`(]{0,3}\w+=/;
const OPENING = /^[^\w-]+/;
/** Commands that have another command among their arguments. */
const RUNNERS = /^[\s>#$%`*+-]*(?:sudo\s)?(?:ssh|docker|podman|kubectl|su|chroot|timeout|watch|wsl|runuser)\s/;

/**
 * Tells whether a word is at the place of a command: at the beginning of a line, after a separator, a quote or a group, or
 * behind a word that runs it. In a sentence, it is an ordinary word.
 *
 * @param text folded text
 * @param at offset of the word
 */
export function isCommandPlace(text: string, at: number): boolean {
  const before = lineBefore(text, at);
  const trimmed = before.trimEnd();
  if (trimmed.endsWith('```')) return false;
  return (
    (before.length < REACH && AT_LINE_START.test(trimmed)) ||
    BEHIND_MARK.test(before) ||
    BEHIND_MARK.test(trimmed) ||
    (trimmed !== before && isBehindWord(trimmed)) ||
    RUNNERS.test(before)
  );
}

/** Whether a `>` sends output to a file. Quotation marks of lines, ends of tags and arrows do not count. */
export function isRedirect(text: string, at: number): boolean {
  const before = lineBefore(text, at);
  return !/^[\s>]*$/.test(before) && !/[-=]$/.test(before) && !/<[/!?]?[a-z][^<>]*$/.test(before);
}

/** Text before an offset on its line, at most {@link REACH} characters. */
function lineBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - REACH), at);
  return before.slice(before.lastIndexOf('\n') + 1);
}

function isBehindWord(before: string): boolean {
  const words = before.split(' ');
  if (VARIABLE.test(words.at(-1) ?? '')) return true;
  for (let word = words.pop(); word !== undefined; word = words.pop()) {
    const plain = word.replace(OPENING, '');
    if (BEFORE.has(plain)) return true;
    if (!plain.startsWith('-') && !VARIABLE.test(word)) return false;
  }
  return false;
}
