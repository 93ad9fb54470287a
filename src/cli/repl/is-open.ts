import type { Language } from '../../contracts/language.ts';

const OPENING = '([{';
const CLOSING = ')]}';

/** Whether the code typed so far asks for more lines: something in it is begun and not ended. */
export function isOpen(language: Language, code: string): boolean {
  if (code.endsWith('\\')) return true;
  if (language === 'python') return isOpenPython(code);
  if (language === 'bash') return isOpenBash(code);
  return unclosed(
    code,
    /\/\/.*|\/\*[^]*?(?:\*\/|$)/g,
    /`(?:[^`\\]|\\[^])*(?:`|$)|'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?/g,
  );
}

/** A block goes on until an empty line. */
function isOpenPython(code: string): boolean {
  const bare = code.replace(/("""|''')[^]*?(\1|$)/g, (text, mark: string) =>
    text.length >= 6 && text.endsWith(mark) ? '""' : '(',
  );
  if (unclosed(bare, /#.*/g, /'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?/g)) return true;
  const lines = bare.split('\n');
  const last = lines.at(-1) ?? '';
  const isBlock = /:\s*(?:#.*)?$/m.test(bare) || lines.some((line) => /^\s*@/.test(line));
  return isBlock && last.trim() !== '';
}

const BASH_WORDS = /(?:^|[;&|\n]|\b(?:then|do|else)\b)[^\S\n]*(if|for|while|until|case|select|fi|done|esac)\b/g;
const BASH_CLOSES: ReadonlySet<string> = new Set(['fi', 'done', 'esac']);

function isOpenBash(code: string): boolean {
  const document = /<<-?\s*(['"]?)(\w+)\1/.exec(code);
  if (document !== null && !new RegExp(`^\\t*${document[2]}$`, 'm').test(code.slice(document.index))) return true;
  let depth = 0;
  for (const [, word = ''] of code.matchAll(BASH_WORDS)) depth += BASH_CLOSES.has(word) ? -1 : 1;
  if (depth > 0 || /(?:\||&&)\s*$/.test(code)) return true;
  return unclosed(
    code.replace(/\$#|[^\s;]\)/g, (text) => (text.endsWith(')') ? text.slice(0, -1) : '')).replaceAll('(', ''),
    /(?:^|\s)#.*/g,
    /'[^']*(?:'|$)|"(?:[^"\\]|\\[^])*(?:"|$)/g,
  );
}

/** Whether brackets, or a text that may span lines, are open. */
function unclosed(code: string, comments: RegExp, texts: RegExp): boolean {
  let depth = 0;
  const isWhole = (text: string): boolean => text.length > 1 && text.at(-1) === text[0];
  const bare = code
    .replace(texts, (text) =>
      isWhole(text) || !/[`'"]/.test(text[0] ?? '') || (text[0] !== '`' && !text.includes('\n')) ? '""' : '(',
    )
    .replace(comments, (text) => (text.startsWith('/*') && !text.endsWith('*/') ? '(' : ''));
  for (const character of bare) depth += OPENING.includes(character) ? 1 : CLOSING.includes(character) ? -1 : 0;
  return depth > 0;
}
