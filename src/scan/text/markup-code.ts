import type { TextRange } from './text-ranges.ts';

const OPENS = /<(script|style|pre|code|kbd|samp)\b[^<>]*>/g;
/** Marks within code that are no part of it. */
const WITHIN = /<\/?(?:code|span|b|i|em|strong|a|kbd|samp|var|mark)\b[^<>\n]*>/g;
const SHEBANG = '#!';

/** Endings of files that are marked up, where `>` closes a tag and the text is for people. */
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

/** Whether a file is HTML or XML; one that a shell is named for is none. */
export function isMarkup(ending: string, text: string): boolean {
  return MARKUP.has(ending) && !text.startsWith(SHEBANG);
}

/**
 * Blanks out what is no code of an HTML or XML text: no command stands there. Offsets and lines stay.
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
