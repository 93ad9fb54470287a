import { exactly, type FormUnit, inEitherCase, makeUnit, type Spelling } from './form-unit.ts';

const BACKSLASH = '\\';
/** Characters that JSON, JavaScript, PHP or SQL write after a backslash. */
const AFTER_BACKSLASH = '"\\/\'';
const HTML_NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/**
 * The spellings of a character in texts: raw in UTF-8 and latin1, escaped in JSON and JavaScript, in URLs and forms, and in HTML.
 * Characters that encoders escape may be escaped twice in JSON and URLs, as in JSON inside JSON.
 */
export function characterUnit(character: string): FormUnit {
  const code = character.codePointAt(0) ?? 0;
  const isPlain = /^[\w.~-]$/.test(character);
  const spellings: Spelling[] = [exactly(character)];
  const encodings = [Buffer.from(character)];
  if (code >= 0x80 && code <= 0xff) {
    spellings.push([[code]]);
    encodings.push(Buffer.of(code));
  }
  for (const bytes of encodings) {
    const digits = Array.from(bytes, (byte) => hexOf(byte, 2));
    spellings.push(digits.flatMap((pair) => inEitherCase(`%${pair}`)));
    if (!isPlain) spellings.push(digits.flatMap((pair) => inEitherCase(`%25${pair}`)));
  }
  if (character === ' ') spellings.push(exactly('+'));
  const utf16 = Array.from({ length: character.length }, (_, index) => hexOf(character.charCodeAt(index), 4));
  for (const escape of isPlain ? [BACKSLASH] : [BACKSLASH, BACKSLASH + BACKSLASH])
    spellings.push(utf16.flatMap((digits) => [...exactly(`${escape}u`), ...inEitherCase(digits)]));
  if (code <= 0xff) spellings.push([...exactly(`${BACKSLASH}x`), ...inEitherCase(hexOf(code, 2))]);
  if (AFTER_BACKSLASH.includes(character)) {
    const escaped = BACKSLASH + character;
    const inner = character === BACKSLASH ? BACKSLASH + BACKSLASH : character;
    spellings.push(exactly(escaped), exactly(BACKSLASH + BACKSLASH + inner));
    if (character !== BACKSLASH) spellings.push(exactly(BACKSLASH + BACKSLASH + escaped));
  }
  const references = [`&#${code};`, `&#0${code};`, `&#x${code.toString(16)};`];
  const name = HTML_NAMES[character];
  if (name !== undefined) references.push(`&${name};`);
  return makeUnit([...spellings, ...references.map(inEitherCase)]);
}

function hexOf(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
