/*
 * Hidden characters in file names of jobs, skills and archives. They are refused because `\u202etxt.exe` reads as `exe.txt`, and two names
 * must not differ only in invisible characters. Hidden are the Unicode default-ignorable and format characters, and the line and paragraph
 * separators. They are allowed only where a language or an emoji needs them:
 *
 * - joiners, by UAX #31, section 2.3.1 (https://unicode.org/reports/tr31/#Layout_and_Format_Control_Characters): between letters of a
 *   cursive or Indic script, whose form they change, and after a virama;
 * - parts of emoji, by UTS #51, section 1.4 (https://unicode.org/reports/tr51/#Emoji_Sequences): variation selectors, joiners between
 *   two emoji, and the tags of a regional flag. Other tags spell an invisible text.
 */

const CURSIVE =
  '\\p{scx=Adlm}\\p{scx=Arab}\\p{scx=Mand}\\p{scx=Mong}\\p{scx=Nkoo}\\p{scx=Phag}\\p{scx=Rohg}\\p{scx=Syrc}';
const INDIC =
  '\\p{scx=Bali}\\p{scx=Beng}\\p{scx=Deva}\\p{scx=Gujr}\\p{scx=Guru}\\p{scx=Java}' +
  '\\p{scx=Khmr}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Mymr}\\p{scx=Newa}\\p{scx=Orya}' +
  '\\p{scx=Saur}\\p{scx=Sinh}\\p{scx=Sund}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Tibt}' +
  '\\p{scx=Tirh}';
const OF_SCRIPT = `${CURSIVE}${INDIC}`;
const LETTER = `(?=[${OF_SCRIPT}])[\\p{L}\\p{M}]`;
/** Signs that remove the vowel of a consonant, in modern scripts: canonical combining class 9. */
const VIRAMA =
  '[\\u{94d}\\u{9cd}\\u{a4d}\\u{acd}\\u{b4d}\\u{bcd}\\u{c4d}\\u{ccd}\\u{d3b}\\u{d3c}\\u{d4d}\\u{dca}\\u{f84}\\u{1039}\\u{103a}\\u{17d2}\\u{1b44}\\u{1baa}\\u{1bab}\\u{a8c4}\\u{a9c0}\\u{11442}\\u{114c2}]';
const JOINER = `(?<=${LETTER})[\\u{200c}\\u{200d}](?=${LETTER})|(?<=${VIRAMA})[\\u{200c}\\u{200d}]`;

const PICTURE = '\\p{Extended_Pictographic}';
const SELECTOR = '[\\u{fe0e}\\u{fe0f}]';
const BETWEEN = `(?<=${PICTURE}(?:\\p{Emoji_Modifier}|${SELECTOR})?)\\u{200d}(?=${PICTURE})`;
const KEYCAP = '[0-9#*]\\u{fe0f}\\u{20e3}';
const TAG_LETTER = '[\\u{e0061}-\\u{e007a}]';
const TAG_DIGIT = '[\\u{e0030}-\\u{e0039}]';
/** A code of Unicode's locale data, such as gbeng: a region and its subdivision. */
const FLAG = `\\u{1f3f4}(?:${TAG_LETTER}{2}|${TAG_DIGIT}{3})(?:${TAG_LETTER}|${TAG_DIGIT}){1,4}\\u{e007f}`;
const EMOJI = `${FLAG}|(?<=${PICTURE})${SELECTOR}|${BETWEEN}|${KEYCAP}`;

/** Visible format characters: signs of Arabic, Syriac and Kaithi around a number. */
const SEEN = '\\u{600}-\\u{605}\\u{6dd}\\u{70f}\\u{890}\\u{891}\\u{8e2}\\u{110bd}\\u{110cd}';
const UNSEEN = `(?![${SEEN}])[\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]`;

let unseenEach: RegExp | undefined;
/** Created at first use, because V8 looks up the Unicode classes when it creates the expression. */
function unseen(): RegExp {
  return (unseenEach ??= new RegExp(`${JOINER}|${EMOJI}|(${UNSEEN})`, 'gu'));
}

/** Fast path for most names: no hidden characters, no lookaround. */
const PLAIN = /^[\x20-\x7e\u00c0-\u02ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]*$/;

/** Checks a name for hidden characters that no language or emoji needs. */
export function hidesInName(name: string): boolean {
  return replaceHiddenInName(name, () => '') !== name;
}

/** Replaces each hidden character of a name. */
export function replaceHiddenInName(name: string, instead: (character: string) => string): string {
  if (PLAIN.test(name)) return name;
  return name.replace(unseen(), (text, hidden?: string) => (hidden === undefined ? text : instead(hidden)));
}
