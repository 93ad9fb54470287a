/** How far before a word the rest of its line is looked at. */
const REACH = 200;
/** What ends a command, opens a group, a substitution or a text that holds one, or begins a value. */
const BEHIND_MARK = /(?:[;&|(){}`"'@!]|:\s)$/;
/** Bullets, numbers, prompts, symbols and blanks. */
const AT_LINE_START = /^[^\p{L}_]*$/u;
/** Words that have a command behind them, with options and variables between. */
const BEFORE: ReadonlySet<string> = new Set(
  'sudo doas env nohup exec -exec -execdir -c -command command builtin time nice setsid stdbuf busybox xargs then do else if while until run execute type use using try with by via and or'.split(
    ' ',
  ),
);
const VARIABLE = /^["'`(]{0,3}\w+=/;
const OPENING = /^[^\w-]+/;
/** Commands that have another one among their arguments. */
const RUNNERS = /^[\s>#$%`*+-]*(?:sudo\s)?(?:ssh|docker|podman|kubectl|su|chroot|timeout|watch|wsl|runuser)\s/;

/**
 * Tells whether a word stands where a command does: at the beginning of a line, of a part between separators, quotes or groups, or behind a
 * word that runs it. In a sentence, it is a word like others.
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

/** Whether a `>` sends output to a file: not one that quotes a line, closes a tag, or ends an arrow. */
export function isRedirect(text: string, at: number): boolean {
  const before = lineBefore(text, at);
  return !/^[\s>]*$/.test(before) && !/[-=]$/.test(before) && !/<[/!?]?[a-z][^<>]*$/.test(before);
}

/** What stands before an offset on its line, as far as it is looked at. */
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
