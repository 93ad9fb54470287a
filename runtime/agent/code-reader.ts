import type { CodeReader } from '../../src/skills/text/words/markdown-fences.ts';

const STRING = 'a string';
const COMMENT = 'a comment';
const DOCUMENT = 'a here-document';

const READERS: Readonly<Record<string, () => CodeReader>> = {
  bash: bashReader,
  javascript: scriptReader,
  python: pythonReader,
  typescript: scriptReader,
};

/** A reader that knows strings, comments and here-documents of a language; undefined for a language without a reader. */
export function codeReader(language: string): CodeReader | undefined {
  return Object.hasOwn(READERS, language) ? READERS[language]?.() : undefined;
}

/** Index behind the end of a one-line string, or one past the line's length if the string does not end on the line. */
function endOfString(line: string, from: number, quote: string): number {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line.startsWith(quote, at)) return at + quote.length;
  }
  return line.length + 1;
}

function endsInBackslash(line: string): boolean {
  let count = 0;
  while (line.at(-1 - count) === '\\') count += 1;
  return count % 2 === 1;
}

const PYTHON_MARK = /"""|'''|["'#]/g;

function pythonReader(): CodeReader {
  let quote: string | undefined;
  return {
    inText: () => (quote === undefined ? undefined : STRING),
    line(text) {
      for (let at = 0; at < text.length;) {
        if (quote === undefined) {
          PYTHON_MARK.lastIndex = at;
          const [mark = '#'] = PYTHON_MARK.exec(text) ?? [];
          if (mark === '#') return;
          quote = mark;
          at = PYTHON_MARK.lastIndex;
        }
        at = endOfString(text, at, quote);
        if (at <= text.length) quote = undefined;
      }
      // A one-line string continues only after a backslash.
      if (quote?.length === 1 && !endsInBackslash(text)) quote = undefined;
    },
  };
}

/** Words after which a slash begins a regular expression. */
const BEFORE_PATTERN =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|yield|await)$/;

function scriptReader(): CodeReader {
  /** The open templates, each with the brace depth of its open substitution. */
  const templates: { braces: number | undefined }[] = [];
  let isComment = false;
  let quote: string | undefined;

  const readTemplate = (text: string, from: number, template: { braces: number | undefined }): number => {
    for (let at = from; at < text.length; at += 1) {
      if (text[at] === '\\') at += 1;
      else if (text[at] === '`') {
        templates.pop();
        return at + 1;
      } else if (text.startsWith('${', at)) {
        template.braces = 0;
        return at + 2;
      }
    }
    return text.length;
  };
  const readCode = (text: string, at: number): number => {
    const character = text[at] ?? '';
    const template = templates.at(-1);
    if (text.startsWith('//', at)) return text.length;
    if (text.startsWith('/*', at)) isComment = true;
    else if (character === '/' && mayBePattern(text.slice(0, at))) return endOfPattern(text, at + 1);
    else if (character === '`') templates.push({ braces: undefined });
    else if (character === '"' || character === "'") quote = character;
    else if (template?.braces !== undefined && character === '{') template.braces += 1;
    else if (template?.braces !== undefined && character === '}')
      template.braces = template.braces === 0 ? undefined : template.braces - 1;
    return at + (isComment ? 2 : 1);
  };
  return {
    inText() {
      if (isComment) return COMMENT;
      const template = templates.at(-1);
      return quote !== undefined || (template !== undefined && template.braces === undefined) ? STRING : undefined;
    },
    line(text) {
      for (let at = 0; at < text.length;) {
        const template = templates.at(-1);
        if (isComment) {
          const end = text.indexOf('*/', at);
          isComment = end < 0;
          at = isComment ? text.length : end + 2;
        } else if (quote !== undefined) {
          at = endOfString(text, at, quote);
          if (at <= text.length) quote = undefined;
        } else if (template !== undefined && template.braces === undefined) at = readTemplate(text, at, template);
        else at = readCode(text, at);
      }
      if (quote !== undefined && !endsInBackslash(text)) quote = undefined;
    },
  };
}

function mayBePattern(before: string): boolean {
  const tail = before.slice(-20).trimEnd();
  return tail === '' || /[^\w$)\]}"'`]$/.test(tail) || BEFORE_PATTERN.test(tail);
}

function endOfPattern(text: string, from: number): number {
  let isClass = false;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') isClass = true;
    else if (text[at] === ']') isClass = false;
    else if (text[at] === '/' && !isClass) return at + 1;
  }
  // A regular expression ends on its line, so this slash was a division.
  return from;
}

const BASH_DOCUMENT = /<<(-?)[ \t]*(?:'([^']+)'|"([^"]+)"|\\?([\w.+-]+))/y;

function bashReader(): CodeReader {
  /** The open constructs: quotes by their first character, `(`, `{` of an expansion, and `((` of arithmetic. */
  const open: string[] = [];
  const documents: { word: string; tabs: boolean }[] = [];
  let inDocument = false;

  const readCode = (text: string, at: number): number => {
    const rest = (part: string): boolean => text.startsWith(part, at);
    const character = text[at] ?? '';
    const top = open.at(-1);
    if (character === '\\') return at + 2;
    if (character === '#' && top !== '{' && top !== '((' && /(?:^|[\s;&|(])$/.test(text.slice(Math.max(0, at - 1), at)))
      return text.length;
    if (rest("$'")) return push("$'", at + 2);
    if (rest('$((') || rest('((')) return push('((', at + (character === '$' ? 3 : 2));
    if (rest('$(')) return push('(', at + 2);
    if (rest('${')) return push('{', at + 2);
    if (character === "'" || character === '"' || character === '(') return push(character, at + 1);
    if (character === '`') return top === '`' ? pop(at + 1) : push('`', at + 1);
    if (top === '((' && rest('))')) return pop(at + 2);
    if ((character === ')' && top === '(') || (character === '}' && top === '{')) return pop(at + 1);
    if (rest('<<<')) return at + 3;
    if (!rest('<<') || open.includes('((')) return at + 1;
    BASH_DOCUMENT.lastIndex = at;
    const [whole = '<<', dash, single, double, plain] = BASH_DOCUMENT.exec(text) ?? [];
    const word = single ?? double ?? plain;
    if (word !== undefined) documents.push({ word, tabs: dash === '-' });
    return at + whole.length;
  };
  const readQuoted = (text: string, at: number): number => {
    const rest = (part: string): boolean => text.startsWith(part, at);
    if (text[at] === '\\') return at + 2;
    if (text[at] === '"') return pop(at + 1);
    if (rest('$((')) return push('((', at + 3);
    if (rest('$(')) return push('(', at + 2);
    if (rest('${')) return push('{', at + 2);
    return text[at] === '`' ? (open.at(-2) === '`' ? at + 1 : push('`', at + 1)) : at + 1;
  };
  const push = (part: string, at: number): number => {
    open.push(part);
    return at;
  };
  const pop = (at: number): number => {
    open.pop();
    return at;
  };
  return {
    inText() {
      if (inDocument) return DOCUMENT;
      return ["'", '"', "$'"].includes(open.at(-1) ?? '') ? STRING : undefined;
    },
    line(text) {
      if (inDocument) {
        const [document] = documents;
        if (document !== undefined && (document.tabs ? text.replace(/^\t+/, '') : text) === document.word)
          documents.shift();
        inDocument = documents.length > 0;
        return;
      }
      for (let at = 0; at < text.length;) {
        const top = open.at(-1);
        if (top === "'" || top === "$'") {
          const end = top === "'" ? text.indexOf("'", at) + 1 || text.length + 1 : endOfString(text, at, "'");
          at = end > text.length ? end : pop(end);
        } else at = top === '"' ? readQuoted(text, at) : readCode(text, at);
      }
      inDocument = documents.length > 0;
    },
  };
}
