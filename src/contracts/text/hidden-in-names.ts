/*
 * The rule for names of files, in jobs, skills and archives alike. A name shows what it is: `\u202etxt.exe` reads as `exe.txt`, and two
 * names must not differ only in what a reader does not see. Unseen are the characters that Unicode calls default-ignorable or formats, and
 * its separators of lines. They are taken where a language or an emoji needs them, and only there:
 *
 * - joiners, by UAX #31, section 2.3.1 (https://unicode.org/reports/tr31/#Layout_and_Format_Control_Characters): between letters of a
 *   cursive or Indic script, which they give another form, and behind a virama;
 * - parts of emoji, by UTS #51, section 1.4 (https://unicode.org/reports/tr51/#Emoji_Sequences): variation selectors, joiners between
 *   two emoji, and the tags of the flag of a part of a country. Other tags spell out a text that nothing shows.
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
/** Signs that take a consonant's vowel away, in scripts of today: canonical combining class 9. */
const VIRAMA =
  '[\\u{94d}\\u{9cd}\\u{a4d}\\u{acd}\\u{b4d}\\u{bcd}\\u{c4d}\\u{ccd}\\u{d3b}\\u{d3c}\\u{d4d}\\u{dca}\\u{f84}\\u{1039}\\u{103a}\\u{17d2}\\u{1b44}\\u{1baa}\\u{1bab}\\u{a8c4}\\u{a9c0}\\u{11442}\\u{114c2}]';
const JOINER = `(?<=${LETTER})[\\u{200c}\\u{200d}](?=${LETTER})|(?<=${VIRAMA})[\\u{200c}\\u{200d}]`;

const PICTURE = '\\p{Extended_Pictographic}';
const SELECTOR = '[\\u{fe0e}\\u{fe0f}]';
const BETWEEN = `(?<=${PICTURE}(?:\\p{Emoji_Modifier}|${SELECTOR})?)\\u{200d}(?=${PICTURE})`;
const KEYCAP = '[0-9#*]\\u{fe0f}\\u{20e3}';
const TAG_LETTER = '[\\u{e0061}-\\u{e007a}]';
const TAG_DIGIT = '[\\u{e0030}-\\u{e0039}]';
/** A code of Unicode's locale data, such as gbeng: a region, and a part of it. */
const FLAG = `\\u{1f3f4}(?:${TAG_LETTER}{2}|${TAG_DIGIT}{3})(?:${TAG_LETTER}|${TAG_DIGIT}){1,4}\\u{e007f}`;
const EMOJI = `${FLAG}|(?<=${PICTURE})${SELECTOR}|${BETWEEN}|${KEYCAP}`;

/** Formats that have a form of their own: signs of Arabic, Syriac and Kaithi that stand around a number. */
const SEEN = '\\u{600}-\\u{605}\\u{6dd}\\u{70f}\\u{890}\\u{891}\\u{8e2}\\u{110bd}\\u{110cd}';
const UNSEEN = `(?![${SEEN}])[\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]`;

let unseenEach: RegExp | undefined;
/** Made at first use: V8 looks the classes of Unicode up when an expression is made. */
function unseen(): RegExp {
  return (unseenEach ??= new RegExp(`${JOINER}|${EMOJI}|(${UNSEEN})`, 'gu'));
}

/** Most names hold none of all this, and need no look at their neighbours. */
const PLAIN = /^[\x20-\x7e\u00c0-\u02ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]*$/;

/** Tells whether a name holds a character that a reader does not see, and no language or emoji needs there. */
export function hidesInName(name: string): boolean {
  return replaceHiddenInName(name, () => '') !== name;
}

/** Puts something else in the place of each such character. */
export function replaceHiddenInName(name: string, instead: (character: string) => string): string {
  if (PLAIN.test(name)) return name;
  return name.replace(unseen(), (text, hidden?: string) => (hidden === undefined ? text : instead(hidden)));
}
