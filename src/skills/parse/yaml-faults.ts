import type { YAMLError } from 'yaml';

const ALIAS = 'a value that begins with * is an alias to YAML; put it in quotes';
const ALIAS_VALUE = /^[ \t]*(?:- )*(?:[^\s:]+:[ \t]+)?\*/;

/** What to say of the parser's faults: what is wrong with the line, and what to write instead. */
const SENTENCES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: ALIAS,
  BAD_DIRECTIVE: 'a line that begins with % is a directive to YAML; put the text in quotes',
  BAD_DQ_ESCAPE:
    'a backslash in double quotes begins an escape that YAML does not have; double it, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines above; what belongs together begins in one column',
  BAD_SCALAR_START: 'a value cannot begin with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value holds a colon and a blank; put it in quotes',
  BLOCK_IN_FLOW: 'a bracket is not closed before the next key; close it, or put the value in quotes',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; a line above may lack its colon or a quote',
  MULTIPLE_ANCHORS: 'a value that begins with & is an anchor to YAML; put it in quotes',
  MULTIPLE_DOCS: 'a second document begins here; keep one, and put a text that looks like --- or ... in quotes',
  MULTIPLE_TAGS: 'a value that begins with ! is a tag to YAML; put it in quotes',
  TAB_AS_INDENT: 'a tab stands where the line is indented; use blanks',
  TAG_RESOLVE_FAILED: 'a value that begins with ! is a tag to YAML; put it in quotes',
  UNEXPECTED_TOKEN: 'something stands here that does not belong to the value before it; put the whole value in quotes',
};

/**
 * Says in a sentence what is wrong with a YAML text and what to write instead.
 *
 * @param fault what the parser reported
 * @param line the line that it is about
 * @returns a sentence without its end
 */
export function yamlFault({ code, message }: Pick<YAMLError, 'code' | 'message'>, line = ''): string {
  // `**bold** text` is an alias with something behind it.
  if (code === 'UNEXPECTED_TOKEN' && ALIAS_VALUE.test(line)) return ALIAS;
  if (code === 'MISSING_CHAR') return missing(message);
  if (code === 'BAD_INDENT' && message.startsWith('Flow '))
    return 'a bracket is not closed, or its lines are not indented; close it, or put the value in quotes';
  return SENTENCES[code] ?? `${message}; put values with special characters in quotes`;
}

function missing(message: string): string {
  const quote = /closing (['"])quote/.exec(message)?.[1];
  if (quote !== undefined)
    return `a text that begins with ${quote} is not closed; add the quote, and indent its next lines`;
  if (message.startsWith('Implicit map keys'))
    return 'the line has no colon; write `key: value`, or indent it if it belongs to the line above';
  return `${message}; add what is missing, or put the value in quotes`;
}
