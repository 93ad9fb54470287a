import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

const WORDS = ['exec', 'eval', 'new function', 'compile', 'system', 'popen', 'subprocess', 'vm.run', 'child_process'];
/** Calls that run a text as code or as a command. */
const EVALUATES =
  /(?:exec|eval|execfile|new function|compile|system|popen|run|call|check_call|check_output|getoutput|execsync|runinnewcontext|runinthiscontext)\s?\(/g;
/** Modules whose functions of these names evaluate code. Methods of other objects do not. */
const MODULES = ['os.', 'subprocess.', 'child_process.', 'vm.'];
/** Names that evaluate code without a module. */
const BY_THEMSELVES = /^(?:exec|eval|execfile|new function|compile|system|popen|execsync)\b/;
const FETCHES =
  /(?:requests\.(?:get|post|request)|urlopen|httpx\.get|fetch|b64decode|atob|fromhex|marshal\.loads|zlib\.decompress)\s?\(|\baxios\b|["']base64/;
/** The most characters of one call that are checked together; a longer call is checked in pieces. */
const CALL_LENGTH = 4_000;

/** Finds programs that evaluate fetched or decoded data in the same call. */
export function* findEvaluatedCode({ folded: { text, offsetOf }, holds }: ScannedFile): Generator<FoundInFile> {
  if (!WORDS.some(holds)) return;
  let judged = 0;
  for (const { index, 0: call } of text.matchAll(EVALUATES)) {
    const before = text.slice(Math.max(0, index - 16), index);
    // The method `exec` of a regular expression evaluates nothing, but `exec` of a module does.
    const isOfModule = MODULES.some((name) => before.endsWith(name));
    if (index < judged || (!isOfModule && (/[\w.]$/.test(before) || !BY_THEMSELVES.test(call)))) continue;
    judged = closingParenthesis(text, index + call.length);
    if (!FETCHES.test(text.slice(index + call.length, judged))) continue;
    const message = 'Fetched or decoded data is evaluated at once.';
    yield { code: 'scan.pipe-to-shell', message, at: offsetOf(index) };
  }
}

function closingParenthesis(text: string, from: number): number {
  const end = Math.min(text.length, from + CALL_LENGTH);
  for (let at = from, open = 1; at < end; at += 1) {
    if (text[at] === '(') open += 1;
    else if (text[at] === ')' && (open -= 1) === 0) return at;
  }
  return end;
}
