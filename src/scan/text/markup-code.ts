import type { TextRange } from './text-ranges.ts';

const OPENS = /<(script|style|pre|code|kbd|samp)\b[^<>]*>/g;
/** Tags within code that do not belong to it. */
const WITHIN = /<\/?(?:code|span|b|i|em|strong|a|kbd|samp|var|mark)\b[^<>\n]*>/g;
const SHEBANG = '#!';

/** Endings of markup files, in which `>` closes a tag and text is for people. */
const MARKUP: ReadonlySet<string> = new Set([
  '.html',
  '.htm',
  '.xhtml',
  '.xml',
  '.svg',
  '.xsl',
  '.xslt',
  '.rss',
  '.plist',
]);

/** Whether a file is HTML or XML. A file with a shebang is a script with any ending. */
export function isMarkup(ending: string, text: string): boolean {
  return MARKUP.has(ending) && !text.startsWith(SHEBANG);
}

/**
 * Replaces everything but code in an HTML or XML text with blanks, because no command is there. Offsets and lines stay.
 *
 * @param text folded text
 */
export function codeOfMarkup(text: string): string {
  let code = '';
  for (const { start, end } of elements(text))
    code += blank(text.slice(code.length, start)) + text.slice(start, end).replaceAll(WITHIN, blank);
  return code + blank(text.slice(code.length));
}

function* elements(text: string): Generator<TextRange> {
  let behind = 0;
  for (const { index, 0: tag, 1: name = '' } of text.matchAll(OPENS)) {
    if (index < behind) continue;
    const start = index + tag.length;
    const close = text.indexOf(`</${name}`, start);
    behind = close < 0 ? text.length : close;
    yield { start, end: behind };
  }
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
