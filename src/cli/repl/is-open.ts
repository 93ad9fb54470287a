import type { Language } from '../../contracts/jobs/language.ts';

const OPENING = '([{';
const CLOSING = ')]}';

/** Comments and texts, in which no bracket counts. The end of each that may span lines is a group, which is empty if the end is missing. */
const SCRIPT_TOKENS =
  /\/\/.*|\/\*[^]*?(\*\/|$)|`(?:[^`\\]|\\(?:[^]|$))*(`?)|'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?/g;
const PYTHON_TOKENS = /#.*|"""[^]*?("""|$)|'''[^]*?('''|$)|'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?/g;
const BASH_TOKENS = /(?:^|\s)#.*|'[^']*('?)|"(?:[^"\\]|\\(?:[^]|$))*("?)/g;

/** Whether the code typed so far needs more lines: a part of it is begun and not ended. */
export function isOpen(language: Language, code: string): boolean {
  if (code.endsWith('\\')) return true;
  if (language === 'python') return isOpenPython(code);
  if (language === 'bash') return isOpenBash(code);
  return hasOpenBracket(withoutTokens(code, SCRIPT_TOKENS));
}

/** A block goes on until an empty line. */
function isOpenPython(code: string): boolean {
  const bare = withoutTokens(code, PYTHON_TOKENS);
  if (hasOpenBracket(bare)) return true;
  const lines = bare.split('\n').map((line) => line.trim());
  return lines.at(-1) !== '' && lines.some((line) => line.endsWith(':') || line.startsWith('@'));
}

const BASH_DOCUMENT = /<<-?\s*(?:'(\w+)'|"(\w+)"|(\w+))/;
const BASH_WORDS = /\w+|[^\s\w]|\n/g;
/** Words after which a word may open or close a block, beside the beginning of the code. */
const BASH_COMMAND_STARTS: ReadonlySet<string> = new Set([';', '&', '|', '\n', 'then', 'do', 'else']);
const BASH_OPENS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'until', 'case', 'select']);
const BASH_CLOSES: ReadonlySet<string> = new Set(['fi', 'done', 'esac']);

function isOpenBash(code: string): boolean {
  if (hasOpenDocument(code)) return true;
  const bare = withoutTokens(code, BASH_TOKENS);
  let depth = 0;
  let before = '\n';
  for (const [word] of bare.matchAll(BASH_WORDS)) {
    if (BASH_COMMAND_STARTS.has(before)) depth += BASH_OPENS.has(word) ? 1 : BASH_CLOSES.has(word) ? -1 : 0;
    before = word;
  }
  const end = bare.trimEnd();
  return depth > 0 || end.endsWith('|') || end.endsWith('&&') || hasOpenBracket(bare);
}

function hasOpenDocument(code: string): boolean {
  const document = BASH_DOCUMENT.exec(code);
  if (document === null) return false;
  const word = document[1] ?? document[2] ?? document[3];
  return !code
    .slice(document.index)
    .split('\n')
    .some((line) => line.replace(/^\t+/, '') === word);
}

/** The code without comments; a complete text becomes an empty one, and an unterminated token a bracket. */
function withoutTokens(code: string, tokens: RegExp): string {
  return code.replace(tokens, (token: string, ...ends: unknown[]) =>
    ends.includes('') ? '{' : /^['"`]/.test(token) ? '""' : '',
  );
}

function hasOpenBracket(code: string): boolean {
  let depth = 0;
  for (const character of code) {
    if (OPENING.includes(character)) depth += 1;
    // A pattern of `case` has a closing bracket only.
    else if (CLOSING.includes(character) && depth > 0) depth -= 1;
  }
  return depth > 0;
}
